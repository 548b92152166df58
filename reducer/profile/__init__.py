"""Where the characters of tool answers are: one spot for each kind of place, however many values stand there."""

from reducer.profile.maps import with_maps
from reducer.profile.spot import Spot
from reducer.profile.walk import profile

__all__ = ["Spot", "profile", "with_maps"]

"""Where the tool returns of a history are: finds them, and writes back only the contents that change.

`stored.reduce_json(data, reduce)` takes and returns JSON bytes; `live.reduce_messages(messages, reduce)` takes and
returns PydanticAI objects. A stored format is one file that defines a `Format`; `formats` lists them.
"""

"""Rules drafted from recorded histories: what agents used later, and had from tool returns alone, is the evidence."""

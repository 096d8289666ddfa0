"""Readings to bodies, one module a subject: the models of its bodies first, then what fills them."""

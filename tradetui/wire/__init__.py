"""The interface in data: endpoint catalogue, request and reply models, field types, codes, signing.

Modules that define models do not defer their annotations: as text, pydantic would compile every one of them when the
program starts.
"""

"""The interface as data: endpoint catalogue, request and reply models, field types, codes, signing.

Modules that define models evaluate their annotations at once: as text, pydantic would compile each one at start.
"""

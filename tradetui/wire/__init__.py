"""The interface in data: endpoint catalogue, request and reply models, field types, codes, signing."""

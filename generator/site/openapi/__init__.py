"""The API described for machines: the OpenAPI document, as JSON and YAML."""

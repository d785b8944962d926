"""Finds numbers of a JSON schema whose unit nothing names."""

UNITS = ("_s", "_hz", "_w", "_j", "_bytes", "_per_s", "_per_second")


def undescribed_numbers(schema, path=()):
    """Returns the paths of the numbers that have neither a description nor a unit at the end of their key."""
    if isinstance(schema, list):
        return [found for i, one in enumerate(schema) for found in undescribed_numbers(one, (*path, str(i)))]
    if not isinstance(schema, dict):
        return []
    found = []
    for key, value in schema.get("properties", {}).items():
        is_number = isinstance(value, dict) and (value.get("type") == "number" or value.get("additionalProperties") == {"type": "number"})
        if is_number and "description" not in value and not key.endswith(UNITS):
            found.append("/".join((*path, key)))
    for key, value in schema.items():
        found += undescribed_numbers(value, (*path, key))
    return found

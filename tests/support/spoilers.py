"""Ways to spoil a JSON document, for tests of schemas."""


def without(*keys):
    def spoil(value):
        for key in keys[:-1]:
            value = value[key]
        del value[keys[-1]]

    return spoil


def with_value(new, *keys):
    def spoil(value):
        for key in keys[:-1]:
            value = value[key]
        value[keys[-1]] = new

    return spoil

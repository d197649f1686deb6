"""What the flags do that `what_if` tries."""

from jaxstage_ext.core.options.trial_flag_help import BY_PLATFORM

SAID = {
    f"{platform}: {', '.join(f'{name}={value}' for name, value in flags.options.items())}": flags.effect
    for platform, listed in BY_PLATFORM.items()
    for flags in listed
}

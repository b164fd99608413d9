# Sourced by scripts of package.json. npm takes a flag that stands before `--` for itself and passes it on as an
# environment variable, such as npm_config_config.file. Some shells (dash, busybox) drop variables with a dot in the
# name, so these are handed on in one variable, a line each; src/commands/swallowed-flags.ts reads it.
npm_dotted_flags=$({ tr '\000' '\n' <"/proc/$$/environ" | grep '^npm_config_[a-z_-]*\.'; } 2>/dev/null)
export npm_dotted_flags

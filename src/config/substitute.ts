import type { Outcome } from './problems.ts';

/** The environment, as `process.env` has it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Replaces `${NAME}` by the environment variable of that name and `$$` by a dollar; other dollars stay.
 * Where the text may be a key, a refusal does not repeat the name: it may be the key itself, pasted into the braces.
 */
export function substitute(text: string, env: Environment, mayBeKey: boolean): Outcome<string> {
  let problem: string | undefined;
  const value = text.replaceAll(/\$\$|\$\{([^}]*)(\}?)/g, (found, name?: string, end?: string) => {
    if (name === undefined) return '$';
    // The name is repeated only where it is one: anything else may be a piece of a key with a dollar in it.
    if (end !== '}' || !/^[A-Za-z_]\w*$/.test(name)) {
      problem ??= '${ must be followed by the name of an environment variable and }; write $$ for a plain dollar';
      return found;
    }
    const replacement = Object.hasOwn(env, name) ? env[name] : undefined;
    if (replacement !== undefined) return replacement;
    // Longer than any name people give, and as long as a key or a token.
    const unnamed = mayBeKey || name.length > 40;
    problem ??= `the environment variable ${unnamed ? 'in it' : name} is not set; set it for the exporter, or write $$ for a plain dollar`;
    return found;
  });
  return problem === undefined ? { value } : { problem };
}

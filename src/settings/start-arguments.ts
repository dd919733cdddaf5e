import { parseArgs } from 'node:util';

type Environment = Readonly<Record<string, string | undefined>>;

/** Adds the command line's settings, which have precedence over the environment. */
export function withArguments(
  environment: Environment,
  args: readonly string[],
): { environment: Environment } | { problem: string } {
  try {
    const { values } = parseArgs({ args: [...args], options: { role: { type: 'string' } } });
    return { environment: values.role === undefined ? environment : { ...environment, ROLES: values.role } };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

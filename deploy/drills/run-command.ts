import { runTill } from '../../src/cli/till.ts';

type Settings = Readonly<Record<string, string>>;

/** Runs a command of an operator with these settings, and returns its JSON. It must do its work. */
export async function till(settings: Settings, ...argv: readonly string[]): Promise<unknown> {
  const { exitCode, json, errors } = await tryTill(settings, ...argv);
  if (exitCode !== 0) throw new Error(`till ${argv.join(' ')} ended with ${exitCode}: ${errors}`);
  return json;
}

/** The same for a command that may find something to mend. */
export async function tryTill(settings: Settings, ...argv: readonly string[]) {
  let [output, errors] = ['', ''];
  const exitCode = await runTill([...argv, '--json'], {
    env: settings,
    stdout: { write: (text: string) => (output += text) },
    stderr: { write: (text: string) => (errors += text) },
  });
  if (output === '') throw new Error(`till ${argv.join(' ')} ended with ${exitCode}: ${errors}`);
  return { exitCode, json: JSON.parse(output) as unknown, errors: errors || output };
}

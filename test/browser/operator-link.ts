import assert from 'node:assert/strict';
import { runTill } from '../../src/cli/till.ts';
import type { Scene } from './scene.ts';

/** The one-time link of a new person of the operator, made by the command that operators use. */
export async function operatorLink({ home, databaseUrl, dashboardUrl }: Scene): Promise<string> {
  const person = ['--name', 'On call', '--email', 'oncall@till.example', '--role', 'owner'];
  const said = { out: '', err: '' };
  const exitCode = await runTill(['people', 'invite', '--operator', ...person, '--json'], {
    env: {
      TILL_HOME: home,
      DATABASE_URL: databaseUrl,
      SANDBOX: '1',
      PUBLIC_URL: new URL(dashboardUrl).origin,
    },
    stdout: { write: (text) => (said.out += text) },
    stderr: { write: (text) => (said.err += text) },
  });
  assert.equal(exitCode, 0, said.err);
  return (JSON.parse(said.out) as { link: { url: string } }).link.url;
}

import assert from 'node:assert/strict';
import { jsonOf } from '../run-command.ts';
import type { Scene } from './scene.ts';

/** The one-time link of a new person of the operator, made by the command that operators use. */
export async function operatorLink(scene: Scene): Promise<string> {
  const person = ['--name', 'On call', '--email', 'oncall@till.example', '--role', 'owner'];
  const { link } = await answerOf<WithLink>(scene, ['people', 'invite', '--operator', ...person]);
  return link.url;
}

/** A new link of somebody who is known. The link of the start ends after some days, and the clock of a sandbox may move by days. */
export async function linkOf(scene: Scene, name: string): Promise<string> {
  const people = await answerOf<{ id: string; name: string }[]>(scene, ['people', 'list']);
  const person = people.find((each) => each.name === name);
  assert.ok(person, `${name} is among ${people.map((each) => each.name)}`);
  return (await answerOf<WithLink>(scene, ['people', 'link', person.id])).link.url;
}

interface WithLink {
  readonly link: { readonly url: string };
}

/** The answer of an operator command to the gateway of the scene. */
export function answerOf<T>({ home, databaseUrl, dashboardUrl }: Scene, argv: readonly string[]): Promise<T> {
  return jsonOf(argv, {
    env: {
      TILL_HOME: home,
      DATABASE_URL: databaseUrl,
      SANDBOX: '1',
      PUBLIC_URL: new URL(dashboardUrl).origin,
    },
  });
}

import { rotateSecrets } from '../actions/rotate-secrets.ts';
import { openSecrets } from '../settings/master-secret.ts';
import { type Command, command, databaseCommand, OPERATOR } from './command.ts';

const BYTES = 32;

const create = command({
  name: 'secret create',
  summary: 'Make a master secret for TILL_SECRET. It is stored nowhere.',
  positionals: {},
  options: {},
  examples: ['secret create'],
  run: async ({ world }) => {
    const secret = Buffer.from(world.random.bytes(BYTES)).toString('base64');
    return { json: { secret }, text: secret };
  },
});

const rotate = databaseCommand({
  name: 'secret rotate',
  summary: 'Wrap stored secrets with the first master secret in TILL_SECRET, and sign receipts with a new key.',
  positionals: {},
  options: {},
  examples: ['secret rotate'],
  run: async (deps) => {
    const secrets = await openSecrets(deps);
    const { receiptKeyId } = await rotateSecrets({ ...deps, secrets }, { actor: OPERATOR });
    const text = [
      `Receipts are signed by the key ${receiptKeyId} as soon as a node is restarted. Older keys stay published.`,
      'Nothing that is stored needs an older master secret any more: leave only the first one in TILL_SECRET, then restart every node.',
    ];
    return { json: { receiptKeyId }, text: text.join('\n') };
  },
});

export const secretCommands: readonly Command[] = [create, rotate];

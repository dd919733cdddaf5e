import { rewrapMailLinks } from '../actions/mail/rewrap-links.ts';
import { isOrdered, renewOutgoingMacs } from '../actions/outgoing/order-outgoing.ts';
import { isOwnRefund, renewRefundMacs } from '../actions/outgoing/refund/refund-rows.ts';
import { isOwnReturn, renewReturnMacs } from '../actions/outgoing/stray/return-rows.ts';
import { isOwnHistory, renewHistory } from '../actions/parties/destination-memory.ts';
import { isOwnDestination, renewDestinationMacs } from '../actions/parties/destination-rows.ts';
import { renewFreezeHead } from '../actions/parties/freeze-heads.ts';
import { isOwnKey, renewKeyMacs } from '../actions/parties/key-rows.ts';
import { isOwnDeposit, renewDepositMacs } from '../actions/paying/deposit-rows.ts';
import { isOwnPasskey, isOwnPerson, renewPasskeyMacs, renewPersonMacs } from '../actions/people/person-rows.ts';
import { rotateSecrets } from '../actions/rotate-secrets.ts';
import { rowKeysOf } from '../actions/row-keys.ts';
import { rewrapEndpointSecrets } from '../actions/webhooks/rewrap-secrets.ts';
import { openSecrets } from '../settings/master-secret.ts';
import type { Outgoing } from '../store/money/outgoing.ts';
import type { Tx } from '../store/plumbing/database.ts';
import { type Command, command, databaseCommand, operatorOf } from './command.ts';
import { flag } from './options.ts';

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
  options: {
    lost: flag('The older secret is lost: trust all rows as they are. First make sure that nobody has changed them.'),
  },
  examples: ['secret rotate', 'secret rotate --lost'],
  run: async (deps, { lost: isLost }) => {
    const secrets = await openSecrets(deps);
    const keys = { rowKeys: rowKeysOf(secrets) };
    const isTrusted = (outgoing: Outgoing) => isLost || isOrdered(keys, outgoing);
    const renewRows = async (tx: Tx, now: Date) => ({
      // First, because the freezes are locked before any other row.
      freezes: await renewFreezeHead(tx, keys, { isLost }),
      outgoing: await renewOutgoingMacs(tx, keys, { isTrusted, now }),
      refunds: await renewRefundMacs(tx, keys, { isTrusted: (row) => isLost || isOwnRefund(keys, row), now }),
      returns: await renewReturnMacs(tx, keys, { isTrusted: (row) => isLost || isOwnReturn(keys, row), now }),
      destinations: await renewDestinationMacs(tx, keys, (row) => isLost || isOwnDestination(keys, row)),
      deposits: await renewDepositMacs(tx, keys, (row) => isLost || isOwnDeposit(keys, row)),
      history: await renewHistory(tx, keys, { isTrusted: (row) => isLost || isOwnHistory(keys, row), now }),
      keys: await renewKeyMacs(tx, keys, (row) => isLost || isOwnKey(keys, row)),
      people: await renewPersonMacs(tx, keys, (row) => isLost || isOwnPerson(keys, row)),
      passkeys: await renewPasskeyMacs(tx, keys, (row) => isLost || isOwnPasskey(keys, row)),
      webhooks: await rewrapEndpointSecrets(tx, { secrets }, { isLost, now }),
      mails: await rewrapMailLinks(tx, { secrets }, { isLost }),
    });
    const { receiptKeyId } = await rotateSecrets(
      { ...deps, secrets },
      { actor: operatorOf(deps.config), isLost, renewRows },
    );
    const text = [
      `Receipts are signed by the key ${receiptKeyId} as soon as a node is restarted. Older keys stay published.`,
      'Nothing that is stored needs an older master secret any more: leave only the first one in TILL_SECRET, then restart every node.',
    ];
    return { json: { receiptKeyId }, text: text.join('\n') };
  },
});

export const secretCommands: readonly Command[] = [create, rotate];

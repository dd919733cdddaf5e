import { writeFile } from 'node:fs/promises';
import { isOwnAccountState, renewAccountStateMacs } from '../actions/account-states.ts';
import { signHeads } from '../actions/books/heads.ts';
import { rewrapMailLinks } from '../actions/mail/rewrap-links.ts';
import { openReceiptKey, refuseOtherSecret, type SecretDeps } from '../actions/open-receipt-key.ts';
import { isOrdered, renewOutgoingMacs } from '../actions/outgoing/order/order-outgoing.ts';
import { isOwnRefund, renewRefundMacs } from '../actions/outgoing/refund/refund-rows.ts';
import { isOwnReturn, renewReturnMacs } from '../actions/outgoing/return/return-rows.ts';
import { isOwnAccount, renewAccountMacs } from '../actions/own-accounts.ts';
import { isOwnHistory, renewHistory } from '../actions/parties/destination-memory.ts';
import { isOwnDestination, renewDestinationMacs } from '../actions/parties/destination-rows.ts';
import { renewFreezeHead } from '../actions/parties/freeze-heads.ts';
import { isOwnKey, renewKeyMacs } from '../actions/parties/key-rows.ts';
import { isOwnDeposit, renewDepositMacs } from '../actions/paying/deposit-rows.ts';
import { isOwnPasskey, isOwnPerson, renewPasskeyMacs, renewPersonMacs } from '../actions/people/person-rows.ts';
import { isOwnRelease, renewReleaseMacs } from '../actions/released-places.ts';
import type { Pages } from '../actions/renew-macs.ts';
import { rotateSecrets } from '../actions/rotate-secrets.ts';
import { rowKeysOf } from '../actions/row-keys.ts';
import { importSubjectKeys, retireSubjectKeys } from '../actions/subject-keys.ts';
import { rewrapEndpointSecrets } from '../actions/webhooks/rewrap-secrets.ts';
import { ApiError } from '../errors.ts';
import { WrongSecretError } from '../runtime/secrets.ts';
import { openSecrets } from '../settings/master-secret.ts';
import type { Outgoing } from '../store/money/outgoing.ts';
import type { Tx } from '../store/plumbing/database.ts';
import { type Command, command, databaseCommand, operatorOf } from './command.ts';
import { readHead } from './head-file.ts';
import { text } from './kinds.ts';
import { flag, optional, required } from './options.ts';

const BYTES = 32;

const create = command({
  name: 'secret create',
  summary: 'Make a master secret for TILL_SECRET. It is stored nowhere.',
  examples: ['secret create'],
  run: async ({ world }) => {
    const secret = Buffer.from(world.random.bytes(BYTES)).toString('base64');
    return { json: { secret }, text: secret };
  },
});

const rotate = databaseCommand({
  name: 'secret rotate',
  summary: 'Wrap stored secrets with the first master secret in TILL_SECRET, and sign receipts with a new key.',
  options: {
    head: optional(
      text,
      'The file for a head with the keys of older master secrets. Keep it elsewhere: `rebuild` needs it.',
    ),
    lost: flag('The older secret is lost: trust all rows as they are. First make sure that nobody has changed them.'),
  },
  examples: ['secret rotate --head head.json', 'secret rotate --lost'],
  run: async (deps, { lost: isLost, head }) => {
    const secrets = await openSecrets(deps);
    await exportHead({ ...deps, secrets }, { file: head, isLost });
    const keys = { rowKeys: rowKeysOf(secrets) };
    const isTrusted = (outgoing: Outgoing) => isLost || isOrdered(keys, outgoing);
    const renewRows = async (pages: Pages, now: Date) => ({
      outgoing: await renewOutgoingMacs(pages, keys, { isTrusted, now }),
      refunds: await renewRefundMacs(pages, keys, { isTrusted: (row) => isLost || isOwnRefund(keys, row), now }),
      returns: await renewReturnMacs(pages, keys, { isTrusted: (row) => isLost || isOwnReturn(keys, row), now }),
      destinations: await renewDestinationMacs(pages, keys, (row) => isLost || isOwnDestination(keys, row)),
      deposits: await renewDepositMacs(pages, keys, (row) => isLost || isOwnDeposit(keys, row)),
      releases: await renewReleaseMacs(pages, keys, (row) => isLost || isOwnRelease(keys, row)),
      accounts: await renewAccountMacs(pages, keys, (row) => isLost || isOwnAccount(keys, row)),
      accountStates: await renewAccountStateMacs(pages, keys, (row) => isLost || isOwnAccountState(keys, row)),
      history: await renewHistory(pages, keys, { isTrusted: (row) => isLost || isOwnHistory(keys, row), now }),
      keys: await renewKeyMacs(pages, keys, (row) => isLost || isOwnKey(keys, row)),
      people: await renewPersonMacs(pages, keys, (row) => isLost || isOwnPerson(keys, row)),
      passkeys: await renewPasskeyMacs(pages, keys, (row) => isLost || isOwnPasskey(keys, row)),
      webhooks: await rewrapEndpointSecrets(pages, { secrets }, { isLost, now }),
      mails: await rewrapMailLinks(pages, { secrets }, { isLost }),
    });
    const renewFreezes = (tx: Tx) => renewFreezeHead(tx, keys, { isLost });
    const { receiptKeyId } = await rotateSecrets(
      { ...deps, secrets },
      { actor: operatorOf(deps.config), isLost, renewRows, renewFreezes },
    );
    const text = [
      `Receipts are signed by the key ${receiptKeyId} as soon as a node is restarted. Older keys stay published.`,
      'Nothing that is stored needs an older master secret any more. Options that payers have open do: wait ten minutes, then leave only the first secret in TILL_SECRET on every node, and restart it.',
    ];
    return { json: { receiptKeyId }, text: text.join('\n') };
  },
});

/**
 * Writes the keys that only an older master secret can decrypt to a file, before anything is rotated. If the process dies
 * afterwards, the operator runs the same command with another file, because an existing file is never overwritten.
 */
async function exportHead(
  deps: SecretDeps,
  { file, isLost }: { file: string | undefined; isLost: boolean },
): Promise<void> {
  if (!isLost) await refuseOtherSecret(deps);
  const retired = await retireSubjectKeys(deps, { isLost });
  // Nothing to export: keys of a lost master secret cannot be recovered, and all other keys are in the database.
  if (isLost || (retired === 0 && file === undefined)) return;
  if (file === undefined) {
    const message =
      'Name a file with --head. It gets the keys of the older master secret, without which a lost database cannot be rebuilt from the chains.';
    throw new ApiError('invalid_params', message);
  }
  const key = await openReceiptKey(deps);
  const signed = await signHeads(deps.db.sql, { key, nowMs: deps.world.clock.nowMs() });
  await writeFile(file, `${JSON.stringify(signed)}\n`, { mode: 0o600, flag: 'wx', flush: true }).catch(
    (error: Error) => {
      throw new ApiError('invalid_params', `The head cannot be written to ${file}: ${error.message}`);
    },
  );
}

const importKeys = databaseCommand({
  name: 'secret import',
  summary: 'Store the keys of older master secrets that a head holds, before a lost database is rebuilt.',
  options: { head: required(text, 'A file that `secret rotate --head` or `books head --json` wrote.') },
  examples: ['secret import --head head.json'],
  run: async (deps, { head: file }) => {
    const secrets = await openSecrets(deps);
    await refuseOtherSecret({ ...deps, secrets });
    const { head } = await readHead(file);
    const count = await importSubjectKeys({ ...deps, secrets }, head.subjectKeys ?? [], operatorOf(deps.config)).catch(
      (error: unknown) => {
        if (!(error instanceof WrongSecretError)) throw error;
        throw new ApiError('invalid_params', `The keys in ${file} were wrapped with another master secret.`);
      },
    );
    return { json: { keys: count }, text: `${count} keys of older master secrets are stored. Now run rebuild.` };
  },
});

export const secretCommands: readonly Command[] = [create, rotate, importKeys];

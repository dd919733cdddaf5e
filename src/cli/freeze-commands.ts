import { freeze, unfreeze } from '../actions/parties/freeze.ts';
import type { FreezeScope, FreezeTarget } from '../domain/freeze.ts';
import { SANDBOX_NETWORK } from '../sandbox/sandbox-network.ts';
import { listFreezes } from '../store/parties/freezes.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { id, text } from './kinds.ts';
import { listing } from './listing.ts';
import { required } from './options.ts';
import { openRowKeys } from './row-keys.ts';

interface Freezable {
  readonly scope: FreezeScope;
  /** The help and an example for the id of the frozen object. Undefined if the freeze concerns everything in its scope. */
  readonly subject?: { readonly doc: string; readonly example: string };
  readonly stops: string;
}

const MERCHANT = { doc: 'The merchant, as shown by merchants list.', example: 'mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6' };
const PARTNER = { doc: 'The partner, as shown by partners list.', example: 'prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6' };
const NETWORK = { doc: 'The network, such as eip155:8453.', example: 'eip155:8453' };

const ASSET = { doc: 'The asset, by its CAIP-19 id.', example: 'eip155:8453/slip44:60' };

const FREEZABLE: readonly Freezable[] = [
  {
    scope: 'merchant',
    subject: MERCHANT,
    stops: 'payments, payouts and changes of destinations of a merchant; refunds are left to operators',
  },
  { scope: 'partner', subject: PARTNER, stops: 'the same for all merchants of a partner' },
  { scope: 'network', subject: NETWORK, stops: 'everything that would be sent on a network' },
  { scope: 'payouts', stops: 'all payouts' },
  { scope: 'refunds', stops: 'all refunds' },
  { scope: 'asset', subject: ASSET, stops: 'all that would leave the accounts of the gateway in an asset' },
  {
    scope: 'restored',
    subject: NETWORK,
    stops: 'payouts and refunds on a network, because the database was restored from a backup. A rebuild lifts it',
  },
];

const list = databaseCommand({
  name: 'freezes',
  summary: 'Show the freezes in force.',
  examples: ['freezes', 'freezes --json'],
  run: async ({ db }) =>
    listing(await listFreezes(db.sql), {
      columns: [
        { title: 'scope', cell: (row) => row.scope },
        { title: 'subject', cell: (row) => row.subject },
        { title: 'since', cell: (row) => row.since },
        { title: 'by', cell: (row) => row.actor },
        { title: 'reason', cell: (row) => row.reason },
      ],
      empty: 'Nothing is frozen.',
    }),
});

const restored = databaseCommand({
  name: 'restored',
  summary:
    'Say that the database was restored from a backup: payouts and refunds on every network wait for a rebuild. Run it before the gateway starts.',
  examples: ['restored'],
  run: async (deps) => {
    const networks = [...(deps.config.rpcUrls?.keys() ?? [SANDBOX_NETWORK])];
    const reason = 'the database was restored from a backup';
    const rowKeys = await openRowKeys(deps);
    for (const subject of networks) {
      await freeze({ ...deps, rowKeys }, { scope: 'restored', subject, reason, actor: operatorOf(deps.config) });
    }
    const next = networks.map((network) => `  npm run till -- rebuild --network ${network} --from <block>`);
    const text = `Payouts and refunds wait on ${networks.join(', ')}. Start the gateway, then run:\n${next.join('\n')}`;
    return { json: { networks }, text };
  },
});

export const freezeCommands: readonly Command[] = [
  ...FREEZABLE.flatMap((each) => [freezing(each), lifting(each)]),
  list,
  restored,
];

function freezing(freezable: Freezable): Command {
  const { scope, stops } = freezable;
  return databaseCommand({
    name: `freeze ${scope}`,
    summary: `Stop ${stops}.`,
    ...wordsOf(freezable, 'freeze', 'key stolen, see case 42'),
    run: async (deps, values) => {
      const target = targetOf(scope, values);
      const rowKeys = await openRowKeys(deps);
      const { isNew } = await freeze(
        { ...deps, rowKeys },
        { ...target, reason: values.reason, actor: operatorOf(deps.config) },
      );
      const news = isNew ? 'Frozen: nothing more is accepted or sent that this stops.' : 'It was frozen already.';
      return { json: { ...target, isNew }, text: news };
    },
  });
}

function lifting(freezable: Freezable): Command {
  const { scope, stops } = freezable;
  return databaseCommand({
    name: `unfreeze ${scope}`,
    summary: `Lift the freeze of ${stops}.`,
    ...wordsOf(freezable, 'unfreeze', 'keys rotated'),
    run: async (deps, values) => {
      const target = targetOf(scope, values);
      const rowKeys = await openRowKeys(deps);
      const lifted = await unfreeze(
        { ...deps, rowKeys },
        { ...target, reason: values.reason, actor: operatorOf(deps.config) },
      );
      return { json: lifted, text: `Lifted. It was frozen by ${lifted.actor}: ${lifted.reason}` };
    },
  });
}

function wordsOf({ scope, subject }: Freezable, verb: string, reason: string) {
  const words = [verb, scope, ...(subject === undefined ? [] : [subject.example]), `--reason "${reason}"`];
  return {
    positionals: { ...(subject !== undefined && { subject: required(id, subject.doc) }) },
    options: { reason: required(text, 'Why. It is shown in alerts and kept in the audit log.') },
    examples: [words.join(' ')] as [string],
  };
}

function targetOf(scope: FreezeScope, { subject = '' }: { readonly subject?: string }): FreezeTarget {
  return { scope, subject };
}

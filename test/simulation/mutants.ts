import type { Chain } from '../../src/chains/chain.ts';
import type { ConnectedChain } from '../../src/chains/chains.ts';
import type { CrashPoint } from '../../src/runtime/crash-points.ts';
import type { Database } from '../../src/store/plumbing/database.ts';
import type { Plan } from './plan.ts';

/** A gateway with one promise broken on purpose. The simulation must notice it. */
export interface Mutant {
  readonly name: string;
  /** The short seed that has caught it before. It is tried first, and then those from 1 on. */
  readonly seed: number;
  /** The part of the plan that brings out the difference. The rest is that of the seed. */
  readonly plan?: Partial<Pick<Plan, 'clients' | 'faults' | 'hasOperator' | 'pace' | 'troubleMs' | 'ways'>>;
  /** The lines at which nodes die by the fault "crash at a point". */
  readonly deadlyPoints?: readonly CrashPoint[];
  /** Alters the statements of all nodes. */
  readonly alter?: (text: string) => string;
  /** Alters the chain as each node sees it. */
  readonly alterChain?: (connected: ConnectedChain) => ConnectedChain;
  /** Alters the database as each node uses it. */
  readonly alterDatabase?: (db: Database) => Database;
}

/** Replaces parts of statements. Each part must be in some statement of the gateway: see `unusedEdits`. */
function edited(...edits: readonly (readonly [from: string, to: string])[]): (text: string) => string {
  for (const [from] of edits) unused.add(from);
  return (text) => {
    let altered = text;
    for (const [from, to] of edits) {
      if (!altered.includes(from)) continue;
      unused.delete(from);
      altered = altered.replaceAll(from, to);
    }
    return altered;
  };
}

const unused = new Set<string>();

/** Edits that no statement has matched: the gateway's SQL has changed, and the mutant is none any more. */
export function unusedEdits(): readonly string[] {
  return [...unused];
}

const GUARD = 'p.id = i.id and p.status = i.from_status and p.version = i.from_version';
const LOCKED = 'from payments where id = any($1::text[]) order by id for update';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a former leaseholder may write',
    seed: 5,
    plan: { faults: ['zombie'] },
    alter: edited(['where name = $1 and fencing = $2 for share', 'where name = $1 and $2::bigint > 0 for share']),
  },
  {
    name: 'a transaction is broadcast before the journal has it',
    seed: 2,
    alterChain: (connected) => ({
      ...connected,
      chain: altered(connected.chain, 'sender', {
        signBatch: async (...input) => {
          const signed = await connected.chain.sender.signBatch(...input);
          await connected.chain.sender.broadcast(signed.bytes).catch(() => {});
          return signed;
        },
      }),
    }),
  },
  {
    name: 'a nonce is taken without a look at the journal',
    seed: 5,
    alter: edited(
      ['select max(slot) as slot from relay_sends', 'select null::bigint as slot from relay_sends'],
      [", $7::timestamptz, 'open')", ", $7::timestamptz, 'open') on conflict do nothing"],
      ['with ordinality as c(key, position)', 'with ordinality as c(key, position) on conflict do nothing'],
    ),
  },
  {
    name: 'a status is updated without lock and guard',
    seed: 2,
    alter: edited([GUARD, 'p.id = i.id'], [LOCKED, 'from payments where id = any($1::text[]) order by id']),
  },
  {
    name: 'the expiry ignores an accepted signature',
    seed: 1,
    plan: { clients: 5, ways: ['wallet'] },
    alter: (text) =>
      text.includes('native_deadline is null and expires_at <=') ? blindToConfirms(text) : withoutStatusGuard(text),
  },
  {
    name: 'a payment succeeds without its event',
    seed: 2,
    alter: edited([
      'from happened h join batched b on b.partner_id = h.partner_id and b.mode = h.mode',
      "from happened h join batched b on b.partner_id = h.partner_id and b.mode = h.mode where h.type <> 'payment.succeeded'",
    ]),
  },
  {
    name: 'a lot is spent twice',
    seed: 1,
    plan: { clients: 6, ways: ['wallet'], hasOperator: true, pace: 2 },
    alter: edited([
      'where s.payment_id = any($1::text[]) order by s.order_id, s.lot_id',
      'where s.payment_id = any($1::text[]) and false order by s.order_id, s.lot_id',
    ]),
  },
  {
    name: 'events are placed by their numbers, so that late commits are skipped',
    seed: 15,
    alter: edited(['first.position + sum(t.size) over (order by t.batch) - t.size', 't.batch * 10']),
  },
  {
    name: 'an item is sent by two relayers',
    seed: 4,
    plan: { faults: ['endpoints out of reach', 'zombie'] },
    alter: edited(["any($1::text[]) and state = 'due'", "any($1::text[]) and state in ('due', 'sent')"]),
  },
  {
    name: 'an Idempotency-Key is not claimed',
    seed: 2,
    alter: edited([
      'where t.claim is null or exists (select from claimed c where c.payment_id = t.id)',
      'where t.claim is null or true',
    ]),
  },
  {
    name: 'a signature is accepted by a cached freeze',
    seed: 1,
    plan: { clients: 5, ways: ['wallet'], hasOperator: true },
    alter: edited([
      'select m.id from merchants m where m.id = any($1::text[]) and',
      'select m.id from merchants m where m.id = any($1::text[]) and false and',
    ]),
  },
  {
    name: 'items that were sent do not count as open',
    seed: 17,
    plan: { clients: 6, ways: ['wallet'] },
    alter: edited(["count(*) filter (where i.state in ('due', 'sent'))", "count(*) filter (where i.state = 'due')"]),
  },
  {
    name: 'one endpoint is believed',
    seed: 7,
    plan: { faults: ['endpoint lies', 'endpoint forges a payment', 'reorg'] },
    alterChain: (connected) => ({
      ...connected,
      chain: altered(connected.chain, 'reader', {
        witnesses: () => {
          const [liar] = connected.chain.reader.witnesses().toSorted((a, b) => a.name.localeCompare(b.name));
          if (liar === undefined) return [];
          return ['first', 'second'].map((name) => ({ ...methodsOf(liar), name }));
        },
      }),
    }),
  },
  {
    name: 'the nonce of one endpoint is taken',
    seed: 7,
    plan: { clients: 5, ways: ['wallet'], faults: ['endpoint lies: nonce'] },
    alterChain: (connected) => ({
      ...connected,
      chain: altered(connected.chain, 'reader', {
        witnesses: () => {
          const witnesses = connected.chain.reader.witnesses();
          const [liar] = witnesses.toSorted((a, b) => a.name.localeCompare(b.name));
          return witnesses.map((witness) => ({
            ...methodsOf(witness),
            usedSlots: (account, atBlock) => (liar ?? witness).usedSlots(account, atBlock),
          }));
        },
      }),
    }),
  },
  {
    name: 'a report of the Collector proves a transfer of our account',
    seed: 2,
    plan: { clients: 6, ways: ['wallet'], hasOperator: true, faults: ['stranger names our account'] },
    alterChain: (connected) => ({
      ...connected,
      chain: altered(connected.chain, 'reader', {
        witnesses: () =>
          connected.chain.reader.witnesses().map((witness) => ({
            ...methodsOf(witness),
            transfers: async (hash) => {
              const receipt = await witness.receipt(hash);
              return (receipt?.events ?? []).flatMap((event) => {
                if (event.type !== 'paid') return [];
                const { block, transactionHash, logIndex, asset, payer: from, recipient: to, amount } = event;
                return [{ block, transactionHash, logIndex, asset, from, to, amount }];
              });
            },
          })),
      }),
    }),
  },
  {
    name: 'payments count before their blocks are final',
    seed: 1,
    plan: { clients: 6, ways: ['wallet'], faults: ['reorg'], troubleMs: 60_000 },
    alterChain: (connected) => {
      const { network } = connected.chain;
      const finality = { ...network.finality, depth: 1, blockTimeMs: 6_000, reason: 'a mutant' };
      const hasty = { network: { ...network, finality } };
      const chain = altered(altered(connected.chain, 'reader', hasty), 'payerSide', hasty);
      return { ...connected, chain: { ...altered(chain, 'sender', hasty), ...hasty } };
    },
  },
  {
    name: 'a payout is signed again by another node',
    seed: 17,
    plan: { clients: 5, ways: ['wallet'], hasOperator: true },
    alter: edited(
      ["and state = 'sending' and commitment is null and not", "and state = 'sending' and not"],
      ["and state = 'sending' and not is_due\n", "and state = 'sending'\n"],
    ),
  },
  {
    name: 'a webhook counts as delivered when it is claimed',
    seed: 1,
    plan: { faults: ['receiver misbehaves', 'crash'] },
    alter: edited([
      'set due_at = $5::timestamptz, is_claimed = true, claim = claim + 1',
      "set due_at = nullif($5::timestamptz, $5::timestamptz), status = 'succeeded', claim = claim + 1",
    ]),
  },
  {
    name: 'the fan-out skips an event',
    seed: 1,
    alter: edited(['select max(position + size - 1) from taken', 'select max(position + size) from taken']),
  },
  {
    name: 'deposit addresses are watched from the wrong block',
    seed: 2,
    plan: { ways: ['address'] },
    alterChain: (connected) => ({
      ...connected,
      chain: altered(connected.chain, 'reader', {
        // Reads of our own accounts stay as they are.
        incoming: (accounts, from, to, onUnreadable) => {
          const isOwn = accounts.has(connected.intermediateAccount);
          return isOwn || from < to
            ? connected.chain.reader.incoming(accounts, isOwn ? from : from + 1, to, onUnreadable)
            : Promise.resolve([]);
        },
      }),
    }),
  },
  {
    name: 'late money pays',
    seed: 4,
    plan: { ways: ['address'] },
    alter: edited(
      ['from summed where nth = 1', 'from summed where nth = 1'],
      [
        'block_hash as "blockHash", at, commitment',
        `block_hash as "blockHash", at - interval '1 hour' as at, commitment`,
      ],
    ),
  },
  {
    name: 'a sweep is ordered while another one is open',
    seed: 9,
    plan: { ways: ['address'] },
    alter: edited([
      'select commitment as key, state from items',
      "select commitment as key, 'paid' as state from items",
    ]),
  },
  {
    name: 'the money of a payment is computed once, and not again',
    seed: 4,
    plan: { clients: 4, ways: ['address'], faults: ['crash at a point'], troubleMs: 60_000 },
    deadlyPoints: ['deposit.recorded', 'deposit.paid'],
    alter: edited([
      'on conflict (payment_id) do update set is_stale = true where not',
      'on conflict (payment_id) do update set is_stale = positions.is_stale where not',
    ]),
  },
  {
    name: 'an authorization is given up before it has run out',
    seed: 4,
    plan: { ways: ['x402'], faults: ['broadcast lost', 'crash', 'gas price rises'] },
    alter: edited(
      [
        "i.state in ('offered', 'due', 'sent') and i.deadline < ",
        "i.state in ('offered', 'due', 'sent') and i.deadline - interval '3 minutes' < ",
      ],
      [
        'p.expires_at as "paymentExpiresAt"\n    from items, lateral',
        `p.expires_at as "paymentExpiresAt",
    case when method like 'deposit-%' then deadline - interval '3 minutes' else deadline end as deadline
    from items, lateral`,
      ],
    ),
  },
  {
    name: 'a piece is not returned',
    seed: 2,
    plan: { clients: 3, ways: ['link'], faults: ['payer cancels'], troubleMs: 60_000 },
    alter: edited(['delete from payment_link_pieces where', 'delete from payment_link_pieces where false and']),
  },
  {
    name: 'the last piece is sold twice',
    seed: 10,
    plan: { clients: 5, ways: ['link'] },
    alter: edited([
      'select from payment_links where id = any($1::text[]) order by id for no key update',
      'select from payment_links where id = any($1::text[]) order by id',
    ]),
  },
  {
    name: 'a float pays a refund that its merchant was asked to sign',
    seed: 1,
    plan: { clients: 6, ways: ['wallet'], hasOperator: true, pace: 2 },
    alter: edited(["values ($1, 'refund', 'merchant',", "values ($1 || '-', 'refund', 'merchant',"]),
  },
  {
    name: 'a mail counts as sent after any attempt',
    seed: 6,
    plan: { clients: 5, ways: ['wallet'], faults: ['mail server misbehaves'], pace: 2, troubleMs: 180_000 },
    alter: edited(
      [
        'set status = $1, due_at = $2::timestamptz, is_claimed = false',
        "set status = left('sent' || $1, 4), due_at = nullif($2::timestamptz, $2::timestamptz), is_claimed = false",
      ],
      ['ended_at = $5::timestamptz', 'ended_at = coalesce($5::timestamptz, now())'],
      ['content = case when $6::boolean then null', 'content = case when true or $6::boolean then null'],
    ),
  },
  {
    name: 'the placer is woken before the commit',
    seed: 1,
    alterDatabase: wakingEarly,
  },
];

/** Calls the listeners at the end of a transaction's work, and not after its commit. */
function wakingEarly(db: Database): Database {
  const listeners: (() => void)[] = [];
  const announce = () => {
    for (const listener of listeners) listener();
  };
  return {
    ...db,
    onEvents: (listener) => void listeners.push(listener),
    begin: (random, work, origin) =>
      db.begin(
        random,
        async (tx) => {
          const result = await work(tx);
          if (tx.outbox.hasEvents) announce();
          return result;
        },
        origin,
      ),
    single: async (statement) => {
      const result = await db.single(statement);
      if (statement.appendsEvents) announce();
      return result;
    },
  };
}

/** The payments under way look as if nobody had confirmed them. */
const blindToConfirms = edited(
  [
    "where status = 'requires_action' and native_deadline is null",
    "where status in ('requires_action', 'processing') and native_deadline is null",
  ],
  ['"amountDecimals", status, version', `"amountDecimals", 'requires_action' as status, version`],
);
const withoutStatusGuard = edited([GUARD, 'p.id = i.id and p.version = i.from_version']);

/** The chain with other methods of one of its ports. */
function altered<Port extends 'reader' | 'payerSide' | 'sender'>(
  chain: Chain,
  port: Port,
  methods: Partial<Chain[Port]>,
): Chain {
  return { ...methodsOf(chain), [port]: { ...methodsOf(chain[port]), ...methods } };
}

/** A copy whose methods can be replaced. The ports of a node are proxies, whose keys are those of the real ones. */
function methodsOf<T extends object>(target: T): T {
  const keys = Reflect.ownKeys(target);
  return Object.fromEntries(keys.map((key) => [key, Reflect.get(target, key)])) as T;
}

import { pino } from 'pino';
import { parseSignature } from 'viem';
import { createAlarms } from '../../src/actions/alarms.ts';
import { command, commandOfOne } from '../../src/actions/command.ts';
import { rememberAccounts } from '../../src/actions/own-accounts.ts';
import { depositMac } from '../../src/actions/paying/deposit-rows.ts';
import { createPaymentMover } from '../../src/actions/paying/payment-mover.ts';
import { relayOnce } from '../../src/actions/relay/relay-once.ts';
import { newMemory, type RelayDeps, type RelaySettings, relayLeaseName } from '../../src/actions/relay/relayer.ts';
import { rowKeysOf } from '../../src/actions/row-keys.ts';
import { sealItem, subjectKeysOf } from '../../src/actions/subject-keys.ts';
import { followChain } from '../../src/actions/watch/follow-chain.ts';
import { watchOnce } from '../../src/actions/watch/watch-once.ts';
import { newWatchMemory, type WatchDeps, type WatchSettings, watchLeaseName } from '../../src/actions/watch/watcher.ts';
import type { Chains } from '../../src/chains/chains.ts';
import { createMemoryChain } from '../../src/chains/memory/memory-chain.ts';
import type { Finality } from '../../src/chains/network.ts';
import type { Registry } from '../../src/chains/registry.ts';
import type { Signer } from '../../src/chains/signer.ts';
import { checksumAddress } from '../../src/domain/addresses/eip155.ts';
import { type Item, itemKeyOf, type PayMethod } from '../../src/domain/item.ts';
import { encryptIds } from '../../src/domain/seal.ts';
import { createSecrets } from '../../src/runtime/secrets.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import type { World } from '../../src/runtime/world.ts';
import { NO_SCREENING, type Screening } from '../../src/screening/screening.ts';
import { insertDeposit } from '../../src/store/chain/deposits.ts';
import { findItemsOfEvents, insertItems, raiseNativeDeadline } from '../../src/store/chain/items.ts';
import { openEventFeed } from '../../src/store/events/event-feed.ts';
import { insertMerchant } from '../../src/store/parties/merchants.ts';
import { insertPartner } from '../../src/store/parties/partners.ts';
import { insertPayments } from '../../src/store/payments/new-payments.ts';
import { findPayments } from '../../src/store/payments/payments.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { openDatabase } from '../../src/store/plumbing/database.ts';
import { openRunRole } from '../../src/store/plumbing/database-roles.ts';
import { takeLease } from '../../src/store/plumbing/leases.ts';
import { insertReceiptKey } from '../../src/store/plumbing/receipt-keys.ts';
import { createScene, type Harness, type Payer } from '../chains/harness.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
import { signerFromKey } from '../chains/signer.ts';
import { createTestDatabase, patient } from '../database.ts';
import { TEST_SECRET } from '../gateway.ts';
import { coinOf, REGISTRY } from '../registry.ts';

export type RelayScene = Awaited<ReturnType<typeof openRelayScene>>;
export type TestNode = Awaited<ReturnType<RelayScene['newNode']>>;

export interface SceneInput {
  readonly depth?: number;
  readonly finality?: Pick<Finality, 'tiers' | 'loneCeiling'>;
  /** The number of endpoints. */
  readonly witnesses?: number;
  readonly relayers?: number;
  readonly relaying?: RelaySettings;
  readonly watching?: WatchSettings;
  readonly screening?: Screening;
  readonly hourlyLimit?: (network: string) => bigint | undefined;
  /** Signs for the intermediate account, with its key or by another program. */
  readonly intermediateSigner?: Signer;
  /** The only relayer. */
  readonly relayer?: Signer;
  /** The gateway connects as the run role, which does not own the tables. */
  readonly isRunRole?: boolean;
  readonly masterSecret?: Uint8Array;
  /** The records of the gateway; the built-in ones by default. */
  readonly registry?: Registry;
  /** Time passes automatically. */
  readonly isRealTime?: boolean;
  /** Another network of the gateway of this scene: the same database and the same time. */
  readonly beside?: { readonly databaseUrl: string; readonly world: World; readonly network: string };
}

/** The calldata of a token's `transfer`. */
function transferData(to: string, units: bigint): string {
  return `0xa9059cbb${to.slice(2).toLowerCase().padStart(64, '0')}${units.toString(16).padStart(64, '0')}`;
}

function signerOf(payer: Payer): Signer {
  return {
    address: payer.address,
    async sign(digest) {
      const signature = await payer.sign({ hash: `0x${Buffer.from(digest).toString('hex')}` });
      const { r, s, yParity } = parseSignature(signature);
      return { r: BigInt(r), s: BigInt(s), yParity: yParity === 1 ? 1 : 0 };
    },
  };
}

const OWNER = { partnerId: 'prtn_test', mode: 'test' } as const;
const MERCHANT = 'mrch_test';
const FEE_ACCOUNT = checksumAddress('0xfee0000000000000000000000000000000000fee');
export const INTERMEDIATE_KEY = `0x${'7'.repeat(64)}` as const;
/** The lifetime of a payment. */
const PAYMENT_LIFE_MS = 15 * 60_000;
/** Enough rounds for everything to settle. */
const MAX_ROUNDS = 50;

/** A database, a chain in memory, and manual time; relayers and watchers take single steps. */
export async function openRelayScene(input: SceneInput = {}) {
  const { beside, registry = REGISTRY } = input;
  const database = beside ? { url: beside.databaseUrl, drop: async () => {} } : await createTestDatabase();
  const url = input.isRunRole ? await openRunRole(systemWorld, database.url) : database.url;
  const db = openDatabase({ url: patient(url), poolSize: 8, applicationName: 'till-test' });
  const log = pino({ level: 'silent' });
  let nowMs = input.isRealTime ? Date.now() : Date.UTC(2026, 2, 1);
  const manual: World = { ...systemWorld, clock: { nowMs: () => nowMs } };
  const world = beside?.world ?? (input.isRealTime ? systemWorld : manual);
  const sandbox = registry.network(beside?.network ?? 'eip155:31337');
  if (sandbox === undefined) throw new Error('The sandbox is not a known network');
  const network = {
    ...sandbox,
    finality: { blockTimeMs: 1_000, depth: input.depth ?? 1, reason: 'as the test wants it', ...input.finality },
  };
  const { chain, control } = createMemoryChain({
    network,
    world,
    isAutoMining: false,
    ...(input.witnesses !== undefined && { witnesses: input.witnesses }),
  });
  const signers = input.relayer
    ? [input.relayer]
    : Array.from({ length: input.relayers ?? 1 }, (_, index) => signerFromKey(`0x${String(index + 1).repeat(64)}`));
  const intermediate = input.intermediateSigner ?? signerFromKey(INTERMEDIATE_KEY);
  for (const { address } of signers) control.setBalance(address, coinOf(network.chainId), 10n ** 21n);
  control.mine();
  const connected = {
    chain,
    relayers: signers as readonly Signer[],
    feeAccount: FEE_ACCOUNT,
    intermediateAccount: intermediate.address,
    intermediateSigner: intermediate,
    otherIntermediates: [] as readonly Signer[],
    payable: () => Object.values(SANDBOX_ASSETS),
    problems: () => [],
  };
  const chains: Chains = {
    find: (id) => (id === network.chainId ? connected : undefined),
    list: () => [connected],
  };
  const secrets = createSecrets([input.masterSecret ?? TEST_SECRET]);
  const keys = { rowKeys: rowKeysOf(secrets), subjectKeys: subjectKeysOf(secrets) };
  const screening = input.screening ?? NO_SCREENING;
  const base = { db, registry, world, log, screening, secrets, ...keys };
  const feed = await openEventFeed(base);
  const movePayment = createPaymentMover(base);
  const party = async () =>
    command(base, async (tx, now) => {
      const partner = { id: OWNER.partnerId, name: 'Test', pinnedVersion: '2026-02-18', frameOrigins: [] } as const;
      await insertPartner(tx, { ...partner, createdAt: now });
      const merchant = { ...OWNER, id: MERCHANT, name: 'Shop', email: null, status: 'active', iconUrl: null } as const;
      await insertMerchant(tx, { ...merchant, createdAt: now, updatedAt: now });
    });
  if (beside === undefined) await party();
  const harness: Pick<Harness, 'chain' | 'assets' | 'feeAccount' | 'fund' | 'mine' | 'send'> = {
    chain,
    assets: SANDBOX_ASSETS,
    feeAccount: FEE_ACCOUNT,
    fund: async (account, asset, units) =>
      control.setBalance(account, asset, control.balanceOf(account, asset) + units),
    mine: async () => control.mine(),
    send: async (_, action) => control.send(action),
  };
  // The part of a chain that payers need.
  const payers = createScene(harness as Harness, (of, item) => sealItem(keys, of, item));

  /** A time after the end of every lease, so that the next request gets it, as after a crash. */
  const afterAllLeases = new Date(Date.UTC(2100, 0, 1));
  const lead = async (name: string) => {
    const ask = { name, holder: 'test', now: afterAllLeases, until: new Date(nowMs) };
    const lease = await command(base, (tx) => takeLease(tx, ask));
    if (lease === undefined) throw new Error('The lease was not to be had.');
    return lease;
  };

  const counts = new Map<string, number>();
  const count = (...words: string[]) => counts.set(words.join(' '), (counts.get(words.join(' ')) ?? 0) + 1);

  /** A node that has just started and leads everything, with its own relayers and secrets if the operator has replaced them. */
  async function newNode(signers: readonly Signer[] = connected.relayers, ofSecrets: Partial<typeof keys> = {}) {
    connected.relayers = signers;
    const nodeDeps = { ...base, ...ofSecrets };
    await rememberAccounts({ ...nodeDeps, chains });
    const leaseDeps = { ...nodeDeps, holder: 'test' };
    const relayDeps: RelayDeps = {
      ...leaseDeps,
      settings: input.relaying ?? {},
      meters: { signed: (_, why) => count('signed', why), items: () => {}, inFlight: () => {} },
    };
    const watchDeps: WatchDeps = {
      ...leaseDeps,
      chains,
      movePayment: createPaymentMover(nodeDeps),
      settings: input.watching ?? {},
      meters: { blocks: () => {}, event: (_, outcome) => count('event', outcome), reorg: () => count('reorg') },
    };
    const alarms = {
      lowBalance: createAlarms(base, 'relayer_balance_low'),
      stuckSend: createAlarms(base, 'send_stuck'),
      outOfFunds: createAlarms(base, 'relayer_out_of_funds'),
      price: createAlarms(base, 'gas_price_above_cap'),
      budget: createAlarms(base, 'gas_budget_spent'),
      counts: createAlarms(base, 'endpoints_disagree'),
    };
    const relayers = await Promise.all(
      signers.map(async (signer) => {
        const id = { network: network.chainId, signer: signer.address };
        const peers = signers.map(({ address }) => address);
        return { chain, signer, id, peers, lease: await lead(relayLeaseName(id)), alarms, memory: newMemory() };
      }),
    );
    /** Each sends the coin of an intermediate account. */
    const intermediates = [intermediate, connected.intermediateSigner, ...connected.otherIntermediates];
    const own = await Promise.all(
      [...new Map(intermediates.map((signer) => [signer.address, signer])).values()].map(async (signer) => {
        const id = { network: network.chainId, signer: signer.address };
        const lease = await lead(relayLeaseName(id));
        return { chain, signer, id, peers: [], isCoinOnly: true, lease, alarms, memory: newMemory() };
      }),
    );
    const watcher = {
      chain,
      network: network.chainId,
      depth: network.finality.depth,
      lease: await lead(watchLeaseName(network.chainId)),
      undetermined: createAlarms(base, 'payments_undetermined'),
      disputed: createAlarms(base, 'endpoints_disagree'),
      alone: createAlarms(base, 'endpoint_alone'),
      memory: newWatchMemory(),
    };
    const node = {
      relayers,
      watcher,
      watchDeps,
      /** One round of each relayer. */
      relay: async () => {
        for (const relayer of [...relayers, ...own]) await relayOnce(relayDeps, relayer);
      },
      /** Reads the chain and stores it with the cursor. Decides nothing. */
      follow: () => followChain(watchDeps, watcher),
      /** Rounds of the watcher until it has read everything. */
      watch: async () => {
        for (let rounds = 0; await watchOnce(watchDeps, watcher); rounds += 1) {
          if (rounds > MAX_ROUNDS) throw new Error('The watcher does not come to an end.');
        }
      },
      /** One block: send, mine, read. */
      async turn(turns = 1) {
        for (let taken = 0; taken < turns; taken += 1) {
          nowMs += network.finality.blockTimeMs;
          await node.relay();
          control.mine();
          await node.watch();
        }
      },
    };
    return node;
  }

  async function newPayment(id: string) {
    const payment = {
      id,
      sealedId: encryptIds(keys.subjectKeys, [id])[0] ?? 'none',
      merchantId: MERCHANT,
      referenceId: 'x',
      amountUnit: 'iso4217/USD',
      amountValue: '100',
      amountDecimals: 2,
      expiresAtMs: nowMs + PAYMENT_LIFE_MS,
      successUrl: null,
      errorUrl: null,
      tokenAsset: null,
      details: null,
      claim: null,
      requestHash: null,
      actor: 'key:test',
    };
    await commandOfOne(base, (now) => insertPayments([payment], now));
  }

  function newItem(item: Item, { state, signature }: { state: 'due' | 'offered'; signature: string | null }) {
    return {
      key: itemKeyOf({ network: item.network, commitment: chain.payerSide.commitmentOf(item) }),
      item,
      account: `${network.chainId}:${item.payer}`,
      quote: null,
      buyerName: 'Wallet',
      buyerIcon: null,
      state,
      signature,
      hasCode: false,
      resultsHash: null,
      hintedHash: null,
    };
  }

  return {
    ...base,
    databaseUrl: database.url,
    feed,
    chains,
    connected,
    chain,
    control,
    signers,
    intermediate: intermediate.address,
    merchantId: MERCHANT,
    movePayment,
    payers,
    counts,
    newNode,
    newItem,
    network: network.chainId,
    nowMs: () => nowMs,
    pass: (ms: number) => {
      nowMs += ms;
    },

    /** A payment whose payer has signed: processing, with an item that is due. With a subject, an existing payment. */
    newPayment,

    async accept({
      method = 'eip3009-vrs' as PayMethod,
      terms = {} as Partial<Item>,
      hasCode = false,
      isHeld = false,
      signature = undefined as string | undefined,
    } = {}) {
      const recipient = isHeld ? { recipient: intermediate.address } : {};
      const { payer, item, signed } = await payers.payable(method, { ...recipient, ...terms });
      if (terms.subject === undefined) await newPayment(item.subject);
      const stored = newItem(item, { state: 'due', signature: signature ?? signed.signature });
      const buyer = { account: stored.account, name: 'Wallet', icon: null };
      const outcome = await movePayment({
        paymentId: item.subject,
        event: { type: 'confirmed', buyer, token: { asset: item.asset, value: item.amount }, isNative: false },
        actor: 'test',
        evidence: {},
        items: { accepted: [{ ...stored, hasCode, isHeld }] },
      });
      if (!outcome.ok) throw new Error(outcome.refusal);
      return { payer, item, signed, id: item.subject, key: stored.key, commitment: signed.commitment };
    },

    /** A payment whose payer was handed a native action. */
    async offer(lifeMs = 5 * 60_000, { isHeld = false, subject = undefined as string | undefined } = {}) {
      const payer: Payer = payers.newPayer();
      const deadlineS = Math.floor((nowMs + lifeMs) / 1_000);
      const item = await payers.newItem(payer, 'native', {
        deadlineS,
        ...(subject !== undefined && { subject }),
        ...(isHeld && { recipient: intermediate.address }),
      });
      control.setBalance(payer.address, SANDBOX_ASSETS.native, 10n ** 20n);
      if (subject === undefined) await newPayment(item.subject);
      await command(base, async (tx, now) => {
        const deadline = new Date(deadlineS * 1_000);
        await raiseNativeDeadline(tx, { paymentId: item.subject, deadline, now });
        await insertItems(tx, [{ ...newItem(item, { state: 'offered', signature: null }), isHeld }], now);
      });
      const pay = () => {
        const [action] = chain.payerSide.walletActions(item, 0n);
        if (action === undefined) throw new Error('There is nothing to pay with.');
        return control.send(action);
      };
      /** A transaction of the payer that is none of ours. It uses a nonce. */
      const sendElsewhere = () => {
        const token = SANDBOX_ASSETS['eip3009-vrs'];
        const call = { from: payer.address, to: token.slice(token.lastIndexOf(':') + 1) };
        return control.send({
          method: 'eth_sendTransaction',
          params: [{ ...call, data: transferData(payer.address, 0n) }],
        });
      };
      return { payer, item, id: item.subject, commitment: chain.payerSide.commitmentOf(item), pay, sendElsewhere };
    },

    /** A payment with a deposit address, of the newest contract by default, and a transfer to it by somebody else. */
    async deposit({
      lifeMs = PAYMENT_LIFE_MS,
      isHeld = false,
      subject = undefined as string | undefined,
      contract = chain.payerSide.depositContract() ?? '',
      amount = undefined as bigint | undefined,
      // The payment has the same address on another network, whose row has the name.
      isSecond = false,
    } = {}) {
      const asset = SANDBOX_ASSETS['eip3009-vrs'];
      const deadlineS = Math.floor((nowMs + lifeMs) / 1_000);
      const terms = { method: 'deposit', collector: contract, deadlineS } as const;
      const recipient = isHeld ? { recipient: intermediate.address } : {};
      const known = { ...(subject !== undefined && { subject }), ...(amount !== undefined && { amount }) };
      const unaddressed = await payers.newItem(payers.newPayer(), 'eip3009-vrs', { ...terms, ...recipient, ...known });
      const address = chain.payerSide.depositAddressOf(unaddressed);
      const item = { ...unaddressed, payer: address };
      const id = item.subject;
      if (subject === undefined) await newPayment(id);
      const stored = { ...newItem(item, { state: 'offered', signature: null }), isHeld };
      const commitment = chain.payerSide.commitmentOf(item);
      const itemKey = itemKeyOf({ network: network.chainId, commitment }, { isTaken: isSecond });
      await command(base, async (tx, now) => {
        await raiseNativeDeadline(tx, { paymentId: id, deadline: new Date(deadlineS * 1_000), now });
        const other = { ...stored, item: { ...stored.item, network: 'eip155:8453' }, isHeld };
        await insertItems(tx, [...(isSecond ? [other] : []), { ...stored, key: itemKey }], now);
        const fields = { commitment, network: network.chainId, address, paymentId: id, asset };
        await insertDeposit(tx, { ...fields, itemKey, mac: depositMac(base, fields) }, now);
      });
      const sender = payers.newPayer().address;
      const send = (units: bigint, { from = sender as string, token = asset } = {}) => {
        control.setBalance(from, SANDBOX_ASSETS.native, 10n ** 20n);
        control.setBalance(from, token, control.balanceOf(from, token) + units);
        const data = transferData(address, units);
        const to = token.slice(token.lastIndexOf(':') + 1);
        return control.send({ method: 'eth_sendTransaction', params: [{ from, to, data }] });
      };
      return { id, item, address, commitment, sender, send };
    },

    /** Accepts an authorization of a payer with the money, whose payee is the deposit address. */
    async authorize(deposit: { readonly item: Item }, terms: Partial<Item> = {}) {
      const payer = payers.newPayer();
      const nonce = `0x${payer.address.slice(2).toLowerCase().padStart(64, '0')}`;
      const item: Item = {
        ...deposit.item,
        method: 'deposit-vrs',
        payer: payer.address,
        deadlineS: Math.floor(nowMs / 1_000) + 120,
        authorization: { nonce, validAfterS: 0 },
        ...terms,
      };
      control.setBalance(payer.address, item.asset, item.amount + 5n);
      const signature = await chain.sender.signItem(signerOf(payer), item);
      const stored = newItem(item, { state: 'due', signature });
      const buyer = { account: stored.account, name: 'x402', icon: null };
      const isHeld = item.recipient === intermediate.address;
      const outcome = await movePayment({
        paymentId: item.subject,
        event: { type: 'confirmed', buyer, token: { asset: item.asset, value: item.amount }, isNative: false },
        actor: 'test',
        evidence: {},
        items: { accepted: [{ ...stored, isHeld }] },
      });
      if (!outcome.ok) throw new Error(outcome.refusal);
      const commitment = chain.payerSide.commitmentOf(item);
      return { payer: payer.address, item, commitment, signed: { item, commitment, signature, hasCode: false } };
    },

    payment: async (id: string) => {
      const [payment] = await findPayments(db.sql, [id]);
      if (payment === undefined) throw new Error('There is no such payment.');
      return payment;
    },
    status: async (id: string) => (await findPayments(db.sql, [id]))[0]?.status,
    item: async (commitment: string) => (await findItemsOfEvents(db.sql, network.chainId, [commitment]))[0],
    /** Another node has rotated the master secret. The nodes of the scene lack the new one. */
    rotateElsewhere: () =>
      command(base, (tx, now) => {
        const wrappedSeed = createSecrets([new Uint8Array(32).fill(9)]).wrap('receipt key', new Uint8Array(32));
        return insertReceiptKey(tx, { id: 'newest', publicKey: 'key', wrappedSeed }, now);
      }),
    alerts: async () => (await listAlerts(db.sql)).map(({ name, subject }) => `${name} ${subject}`),
    /** The message of the alert of that name. */
    alertText: async (name: string) => (await listAlerts(db.sql)).find((alert) => alert.name === name)?.message,
    /** Every stored signed transaction, in order. */
    versions: async () => [
      ...(await db.sql<{ hash: string; nonce: number; signer: string; state: string }[]>`
        select v.hash, v.slot::int as nonce, v.signer, s.state from relay_versions v
        join relay_sends s on s.network = v.network and s.signer = v.signer and s.slot = v.slot
        order by v.signer, v.slot, v.price`),
    ],
    async close() {
      await db.close();
      await database.drop();
    },
  };
}

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { command } from '../../src/actions/command.ts';
import { requestRefund } from '../../src/actions/outgoing/refund/request-refund.ts';
import { deleteMerchant } from '../../src/actions/parties/change-merchant.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import type { Clock } from '../../src/runtime/world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import { findCursors } from '../../src/store/chain/chain-cursors.ts';
import { findUnexpectedCursor, listUnexpected } from '../../src/store/money/unexpected-money.ts';
import type { StoredAuditEntry } from '../../src/store/plumbing/audit-log.ts';
import { type Database, openDatabase } from '../../src/store/plumbing/database.ts';
import { insertKnownRecords } from '../../src/store/plumbing/known-records.ts';
import { createEmptyDatabase } from '../database.ts';
import { REGISTRY } from '../registry.ts';
import { jsonOf } from '../run-command.ts';
import { until } from '../until.ts';
import { type Sandbox, startSandbox } from '../wallet-sdk/sandbox.ts';
import type { TestWallet } from '../wallet-sdk/test-wallet.ts';
import type { Json } from './list-test.ts';
import { payWith } from './sandbox-payer.ts';

const NETWORK = 'eip155:31337';
const TOKEN = parseAbi(['function transfer(address to, uint256 value)']);
const SECRET = Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64');
const WITHIN = { withinMs: 60_000 };

/** Commands that change nothing, in the database or on a chain. */
const READING = [
  'accounts list',
  'alerts',
  'apps list',
  'audit list',
  'books balances',
  'books export',
  'books head',
  'books verify',
  'config',
  'destinations pending',
  'doctor',
  'events list',
  'explain',
  'fees list',
  'fiat list',
  'float list',
  'freezes',
  // It runs other commands, and each of them leaves its own entry.
  'init',
  'keys audit',
  'keys list',
  'listen',
  'merchants list',
  // It writes a file of NETWORKS_DIR, which nodes read at their start.
  'networks add',
  'networks check',
  'networks list',
  'partners list',
  'people list',
  'rates',
  'reconcile',
  'refunds list',
  'refunds show',
  'relayers list',
  'secret create',
  'strays list',
  // It writes a file, too.
  'tokens add',
  // It asks the API of a running sandbox, which writes the log.
  'trigger',
];

/** Every other command, with the action that it leaves in the audit log. */
const WRITING: Readonly<Record<string, string>> = {
  'partners create': 'partner.created',
  'partners set': 'partner.changed',
  'partners disable': 'partner.changed',
  'partners enable': 'partner.changed',
  'keys create': 'key.issued',
  'keys rotate': 'key.rotated',
  'keys revoke': 'key.revoked',
  'people invite': 'person.invited',
  'people set': 'person.changed',
  'people link': 'person.linked',
  'people remove': 'person.removed',
  'payers erase': 'payer.erased',
  'apps create': 'app.registered',
  'apps remove': 'app.removed',
  'merchants set': 'merchant.changed',
  'merchants suspend': 'merchant.changed',
  'merchants activate': 'merchant.changed',
  'merchants deactivate': 'merchant.changed',
  'merchants restore': 'merchant.restored',
  'destinations veto': 'settlement.vetoed',
  'destinations remove': 'settlement.expelled',
  ...Object.fromEntries(
    ['merchant', 'partner', 'network', 'asset', 'payouts', 'refunds', 'restored'].flatMap((scope) => [
      [`freeze ${scope}`, 'freeze.set'],
      [`unfreeze ${scope}`, 'freeze.lifted'],
    ]),
  ),
  restored: 'freeze.set',
  'accounts adopt': 'account.adopted',
  'accounts add': 'account.added',
  'accounts rotate': 'account.rotated',
  'accounts retire': 'account.retired',
  'networks accept': 'record.accepted',
  'secret rotate': 'secret.rotated',
  'secret import': 'secret.imported',
  'fees set': 'fees.set',
  'fiat add': 'fiat.added',
  'fiat remove': 'fiat.removed',
  'float add': 'float.added',
  'float return': 'float.returned',
  'strays return': 'stray.returned',
  'strays veto': 'stray.vetoed',
  'strays search': 'stray.swept',
  'refunds create': 'refund.requested',
  'refunds approve': 'refund.approved',
  'refunds cover': 'refund.covered',
  'refunds veto': 'refund.vetoed',
  'refunds retry': 'refund.retried',
  'collector deploy': 'collector.deploy.done',
  rebuild: 'books.rebuild.done',
  migrate: 'schema.migrated',
  'database roles': 'database.roles_set',
  prune: 'database.pruned',
};

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'till-audit-'));
  await work(folder).finally(() => rm(folder, { recursive: true, force: true }));
}

describe('the audit log', () => {
  let sandbox: Sandbox;
  let db: Database;
  let payer: TestWallet;
  const seen = new Set<string>();
  before(async () => {
    sandbox = await startSandbox({ TILL_SECRET: SECRET, DESTINATION_COOLING_OFF_HOURS: '1' });
    db = openDatabase({ url: sandbox.databaseUrl, poolSize: 2, applicationName: 'till-test' });
    payer = await sandbox.createWallet({ USDC: 50_000_000n, USDT: 50_000_000n, ETH: 10n ** 18n });
  });
  after(async () => {
    await db.close();
    await sandbox.stop();
  });

  /** The keys in the settings of the commands. The sandbox knows its own. */
  let keys: Readonly<Record<string, string>> = {};

  function till(argv: readonly string[], databaseUrl = sandbox.databaseUrl, machineClock?: Clock): Promise<Json> {
    return jsonOf(argv, {
      ...(machineClock && { machineClock }),
      env: {
        DATABASE_URL: databaseUrl,
        TILL_SECRET: SECRET,
        RPC_URLS: `${NETWORK}=${sandbox.rpcUrl}`,
        ...keys,
        TILL_OPERATOR: 'Alice',
        SSH_CONNECTION: '192.0.2.44 51234 192.0.2.1 22',
      },
    });
  }

  /** Runs a writing command; the newest entry of the log must be its own. */
  async function change(name: string, ...options: string[]): Promise<{ result: Json; entry: StoredAuditEntry }> {
    const result = await till([...name.split(' '), ...options]);
    const [entry] = (await till(['audit', 'list', '--actor', 'operator'])) as StoredAuditEntry[];
    checkEntry(name, entry);
    return { result, entry: entry as StoredAuditEntry };
  }

  function checkEntry(name: string, entry: StoredAuditEntry | undefined): void {
    assert.equal(entry?.action, WRITING[name], name);
    assert.equal(entry?.actor, 'operator:Alice (self-declared)', name);
    assert.deepEqual([entry?.origin.host, entry?.origin.session], [hostname(), '192.0.2.44'], name);
    assert.ok(entry?.origin.account, name);
    assert.ok(entry?.databaseUser && entry.databaseClient, `${name}: PostgreSQL saw who wrote it`);
    seen.add(name);
  }

  it('has an entry of every command about partners, keys, apps, merchants, fees and banks', async () => {
    const { result: partner } = await change('partners create', '--name', 'Before');
    const renamed = await change('partners set', partner.id, '--name', 'After');
    assert.deepEqual(renamed.entry.detail, { before: { name: 'Before' }, after: { name: 'After' } });
    const { entry: disabled } = await change('partners disable', partner.id);
    assert.deepEqual((disabled.detail as Json).before, { disabledAt: null });
    await change('partners enable', partner.id);
    const options = ['--partner', partner.id, '--mode', 'test', '--label', 'L', '--address', '203.0.113.7'];
    const { result: key, entry: issued } = await change('keys create', ...options);
    assert.equal((issued.detail as Json).before, null);
    assert.deepEqual((issued.detail as Json).after.addresses, ['203.0.113.7']);
    const { result: rotated, entry: rotation } = await change('keys rotate', key.id);
    assert.deepEqual((rotation.detail as Json).before, { id: key.id, expiresAt: null });
    const { entry: revoked } = await change('keys revoke', rotated.id);
    assert.ok((revoked.detail as Json).after.revokedAt);
    const { result: person } = await change(
      'people invite',
      ...['--partner', partner.id, '--name', 'Ada', '--email', 'ada@shop.example', '--role', 'support'],
    );
    await change('people set', person.id, '--role', 'cashier');
    await change('people link', person.id);
    await change('people remove', person.id);
    const { entry: erased } = await change('payers erase', 'ada@shop.example');
    assert.doesNotMatch(JSON.stringify(erased), /ada@shop/);
    const { result: app } = await change('apps create', '--name', 'W', '--mode', 'test');
    await change('apps remove', app.id);
    const merchant = await sandbox.createMerchant(sandbox.assetOf('USDC'), `${NETWORK}:0x${'1'.repeat(40)}`);
    const { entry: narrowed } = await change('merchants set', merchant.id, '--accept', `${NETWORK}/USDC`);
    assert.deepEqual(narrowed.detail, {
      before: { acceptedAssets: null },
      after: { acceptedAssets: [sandbox.assetOf('USDC')] },
    });
    const { entry: suspended } = await change('merchants suspend', merchant.id);
    assert.deepEqual(suspended.detail, { before: { status: 'active' }, after: { status: 'suspended' } });
    await change('merchants activate', merchant.id);
    await change('merchants deactivate', merchant.id);
    await deleteMerchant(
      { registry: REGISTRY, db, world: systemWorld },
      { owner: null, actor: 'test', merchantId: merchant.id },
    );
    const { entry: restored } = await change('merchants restore', merchant.id);
    assert.deepEqual((restored.detail as Json).after, { deletedAt: null });
    await change('fees set', '--merchant', merchant.id, '--percentage', '1');
    const { entry: raised } = await change('fees set', '--merchant', merchant.id, '--percentage', '2');
    assert.deepEqual([(raised.detail as Json).before.percentage, (raised.detail as Json).after.percentage], ['1', '2']);
    const { result: bank } = await change('fiat add', merchant.id, '--bank-type', 'ACH');
    const { entry: unbanked } = await change('fiat remove', bank.id);
    assert.equal(unbanked.subject, merchant.id, 'it is found beside the addition');
  });

  it('has an entry of every command that stops money or protects it', async () => {
    const merchant = await sandbox.createMerchant(sandbox.assetOf('USDC'), `${NETWORK}:0x${'1'.repeat(40)}`);
    await merchant.payElsewhere(`${NETWORK}:0x${'2'.repeat(40)}`);
    const [pending] = await till(['destinations', 'pending', '--merchant', merchant.id]);
    const why = ['--reason', 'case 42'];
    const { entry } = await change('destinations veto', pending.id, ...why);
    assert.equal((entry.detail as Json).reason, 'case 42');
    await change('destinations remove', pending.id, ...why);
    const partner = await till(['partners', 'create', '--name', 'Frozen']);
    const targets = {
      merchant: merchant.id,
      partner: partner.id,
      network: NETWORK,
      asset: sandbox.assetOf('USDC'),
      restored: NETWORK,
    };
    for (const [scope, subject] of Object.entries(targets)) {
      await change(`freeze ${scope}`, subject, ...why);
      await change(`unfreeze ${scope}`, subject, ...why);
    }
    for (const scope of ['payouts', 'refunds']) {
      await change(`freeze ${scope}`, ...why);
      await change(`unfreeze ${scope}`, ...why);
    }
    await change('restored');
    await till(['unfreeze', 'restored', NETWORK, ...why]);
    await change('accounts adopt', `${NETWORK}:0x${'3'.repeat(40)}`);
    await till(['accounts', 'adopt', `${NETWORK}:${SANDBOX_ACCOUNTS.intermediate}`]);
    const next = `${NETWORK}:${SANDBOX_ACCOUNTS.secondPayer}`;
    keys = {
      RELAYER_KEYS: `${NETWORK}=${SANDBOX_KEYS.relayer},${SANDBOX_KEYS.secondPayer}`,
      INTERMEDIATE_ACCOUNT: `${NETWORK}=${SANDBOX_ACCOUNTS.secondPayer}`,
      INTERMEDIATE_KEY: `${NETWORK}=${SANDBOX_KEYS.secondPayer}`,
      OTHER_INTERMEDIATE_KEYS: `${NETWORK}=${SANDBOX_KEYS.intermediate}`,
    };
    await change('accounts add', 'relayer', next);
    await change('accounts retire', 'relayer', next);
    await change('accounts rotate', next);
    keys = {};
    await till(['accounts', 'adopt', `${NETWORK}:${SANDBOX_ACCOUNTS.intermediate}`]);
    await change('prune');
    const elsewhere = 'eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e';
    const facts = { name: 'USD Coin', symbol: 'USDC', decimals: 6, peg: 'EUR' };
    await command({ registry: REGISTRY, db, world: systemWorld }, (tx, at) =>
      insertKnownRecords(tx, [{ subject: elsewhere, facts }], at),
    );
    const { entry: accepted } = await change('networks accept', elsewhere);
    assert.deepEqual([accepted.subject, (accepted.detail as Json).before.peg], [elsewhere, 'EUR']);
    assert.equal((accepted.detail as Json).after.peg, 'USD');
    await change('secret rotate');
    await inFolder(async (folder) => {
      const file = join(folder, 'head.json');
      await writeFile(file, JSON.stringify(await till(['books', 'head'])));
      await change('secret import', '--head', file);
    });
  });

  /** True once the gateway has read the block of the transaction at final depth. */
  async function hasRead(transaction: string): Promise<boolean> {
    const { blockNumber } = await sandbox.receiptOf(transaction);
    const cursor = (await findCursors(db.sql)).find(({ network }) => network === NETWORK);
    return cursor !== undefined && cursor.finalNumber >= Number(blockNumber);
  }

  it('has an entry of every command that moves money', async () => {
    const asset = sandbox.assetOf('USDC');
    const deposit = () =>
      payer.send({
        to: asset.split('erc20:')[1] as Hex,
        data: encodeFunctionData({
          abi: TOKEN,
          functionName: 'transfer',
          args: [SANDBOX_ACCOUNTS.intermediate as Hex, 1_000_000n],
        }),
      });
    const to = `${NETWORK}:${payer.address}`;
    const transaction = await deposit();
    await until('the gateway has read the block', () => hasRead(transaction), WITHIN);
    await change('float add', '--operator', '--asset', asset, '--tx', transaction);
    await change('float return', '--operator', '--asset', asset, '--units', '5000', '--to', to);
    const isSearching = async () => (await findUnexpectedCursor(db.sql, NETWORK)) !== undefined;
    await until('the gateway looks for strays', isSearching, WITHIN);
    await deposit();
    const unexpectedMoney = () => listUnexpected(db.sql, { states: ['unclaimed'], limit: 1 });
    await until('the transfer is a stray', async () => (await unexpectedMoney()).length === 1, WITHIN);
    const [unexpected] = await unexpectedMoney();
    await change('strays return', unexpected?.id ?? '', '--to', to);
    const sent = await sandbox.createPayment('iso4217/USD', '100');
    const path = `/v1/gateway/payment/${sent.paymentId}/address`;
    const { address } = await sandbox.call<{ address: string }>('POST', path, { asset });
    // A freeze keeps the gateway from sweeping it at once.
    await till(['freeze', 'network', NETWORK, '--reason', 'audit']);
    const args = [address.split(':')[2] as Hex, 5_000_000n] as const;
    const data = encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args });
    await payer.send({ to: sandbox.assetOf('USDT').split('erc20:')[1] as Hex, data });
    await change('strays search', sent.paymentId, '--sweep');
    await till(['unfreeze', 'network', NETWORK, '--reason', 'audit']);
    const isOpen = async () => {
      const { paymentId } = await sandbox.createPayment('iso4217/USD', '100');
      const opened = sandbox.call('POST', `/v1/gateway/payment/${paymentId}/address`, { asset });
      return opened.then(() => true).catch(() => false);
    };
    await until('the node knows that the network is open again', isOpen, WITHIN);
    const late = async () =>
      (await sandbox.call<Json>('GET', `/v1/late-money?paymentId=${sent.paymentId}`)).lateMoney as Json[];
    await until('the swept money is named', async () => (await late()).length === 1, WITHIN);
    const [money] = await late();
    await sandbox.call('POST', `/v1/late-money/${money.id}/return`, { destination: to });
    const { entry: vetoed } = await change('strays veto', money.id, '--reason', 'audit');
    assert.equal((vetoed.detail as Json).before.recipient, payer.address);
    const refundId = await failedRefund();
    const { entry: approved } = await change('refunds approve', refundId);
    assert.deepEqual(approved.detail, { before: { isOperators: false }, after: { isOperators: true } });
    const { entry } = await change('refunds retry', refundId);
    assert.equal((entry.detail as Json).before.state, 'failed');
    const { paymentId } = await sandbox.createPayment('iso4217/USD', '100');
    await payWith(sandbox, payer, paymentId, 'USDC');
    // A freeze keeps the refund from being sent at once.
    await till(['freeze', 'refunds', '--reason', 'audit']);
    await change('refunds create', paymentId);
    await change('refunds cover', refundIdOf(paymentId, 1));
    await change('refunds veto', refundIdOf(paymentId, 1), '--reason', 'audit');
    await till(['unfreeze', 'refunds', '--reason', 'audit']);
    await change('rebuild', '--network', NETWORK, '--from', '0');
    const { entry: deployed } = await change('collector deploy', '--network', NETWORK);
    assert.equal((deployed.detail as Json).result.collector.is, 'there_already');
    const begun = await till(['audit', 'list', '--action', 'books.rebuild.begun']);
    assert.equal(begun.length, 1, 'work of many transactions is recorded before it begins');
  });

  /** A refund that failed because its payer is on a list that only this call has. */
  async function failedRefund(): Promise<string> {
    const { paymentId } = await sandbox.createPayment('iso4217/USD', '100');
    await payWith(sandbox, payer, paymentId, 'USDC');
    const [row] = await db.sql<{ merchantId: string }[]>`
      select merchant_id as "merchantId" from payments where id = ${paymentId}`;
    const list = { hash: '0'.repeat(64), version: '1', date: '2026-01-01' };
    const connected = { intermediateAccount: SANDBOX_ACCOUNTS.intermediate } as Json;
    await requestRefund(
      {
        registry: REGISTRY,
        db,
        world: systemWorld,
        rowKeys: [new Uint8Array(32)],
        chains: { find: () => connected, list: () => [connected] },
        screening: { decide: (accounts) => ({ hits: accounts, list }) },
      },
      { paymentId, merchantId: row?.merchantId ?? '', actor: 'test', isOperators: false },
      undefined,
      () => ({ status: 200, body: {} }),
    );
    const refund = await till(['refunds', 'show', paymentId]);
    assert.equal(refund.state, 'failed');
    return refund.id;
  }

  it('has an entry of a migration and of new roles, in the database that was changed', async () => {
    const empty = await createEmptyDatabase();
    // The time of an entry is that of the database, whatever this machine thinks.
    const ahead = { nowMs: () => Date.now() + 3_600_000 };
    const isDatedNow = ({ at }: StoredAuditEntry) => assert.ok(Date.parse(String(at)) < Date.now() + 1_800_000);
    try {
      await till(['migrate'], empty.url, ahead);
      const [entry] = await till(['audit', 'list'], empty.url);
      checkEntry('migrate', entry);
      isDatedNow(entry);
      assert.match(entry.detail.after, /^\d{4}_\w+\.sql$/);
      assert.deepEqual(await till(['migrate'], empty.url), { applied: [] });
      assert.equal((await till(['audit', 'list'], empty.url)).length, 1, 'nothing was changed, nothing is recorded');
      await till(['database', 'roles', '--apply'], empty.url, ahead);
      const [roles] = await till(['audit', 'list'], empty.url);
      checkEntry('database roles', roles);
      isDatedNow(roles);
    } finally {
      await empty.drop();
    }
  });

  it('knows every command: each of them reads, or was seen to leave an entry', () => {
    const names = COMMANDS.map(({ name }) => name);
    assert.deepEqual(names.toSorted(), [...READING, ...Object.keys(WRITING)].toSorted());
    assert.deepEqual([...seen].toSorted(), Object.keys(WRITING).toSorted());
  });

  it('has the address of the request that changed a destination or asked for a refund', async () => {
    const merchant = await sandbox.createMerchant(sandbox.assetOf('USDC'), `${NETWORK}:0x${'1'.repeat(40)}`);
    await merchant.payElsewhere(`${NETWORK}:0x${'2'.repeat(40)}`);
    const { paymentId } = await sandbox.createPayment('iso4217/USD', '100');
    await payWith(sandbox, payer, paymentId, 'USDC');
    await sandbox.call('POST', '/v1/refunds', { paymentId });
    const [requested] = await till(['audit', 'list', '--action', 'refund.requested', '--actor', 'key:']);
    assert.equal(requested.detail.after.paymentId, paymentId);
    const entries: StoredAuditEntry[] = await till(['audit', 'list', '--subject', merchant.id]);
    assert.deepEqual(
      entries.map(({ action }) => action),
      ['settlement.pending', 'settlement.registered', 'merchant.created'],
    );
    for (const { actor, origin } of [requested, ...entries]) {
      assert.match(actor, /^key:key_/);
      assert.equal(origin.address, '127.0.0.1');
      assert.ok(origin.requestId);
    }
  });

  it('takes no change and no deletion', async () => {
    const sql = db.sql;
    await assert.rejects(sql`update audit_log set origin = '{}'`, /never changed/);
    await assert.rejects(sql`delete from audit_log`, /never changed/);
  });
});

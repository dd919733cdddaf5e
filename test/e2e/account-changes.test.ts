import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { recordCoin } from '../../src/actions/books/audit/record-coin.ts';
import { checkSolvency } from '../../src/actions/books/audit/solvency.ts';
import { command } from '../../src/actions/command.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { returnFloat } from '../../src/actions/outgoing/float/return-float.ts';
import { adoptAccount, rememberAccounts, storedAccounts, usedAccounts } from '../../src/actions/own-accounts.ts';
import { refuseOwnPlaces } from '../../src/actions/parties/refuse-own-places.ts';
import { addAccount, retireAccount, rotateAccount } from '../../src/actions/relay/change-accounts.ts';
import type { Signer } from '../../src/chains/signer.ts';
import { ACCOUNTS, OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { listFloats } from '../../src/store/money/floats.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { listFreezes } from '../../src/store/parties/freezes.ts';
import { signerFromKey } from '../chains/signer.ts';
import { coinOf } from '../registry.ts';
import { COIN, DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';
import { INTERMEDIATE_KEY, openRelayScene, type RelayScene, type TestNode } from './relay-scene.ts';

const NEW = signerFromKey(`0x${'8'.repeat(64)}`);
const OLD = signerFromKey(INTERMEDIATE_KEY);
const MINUTE_MS = 60_000;

const audited = async (scene: Pick<RelayScene, 'db'>) =>
  (
    await scene.db.sql<{ action: string; detail: { address?: string } }[]>`
    select action, detail from audit_log where action like 'account.%' order by id`
  ).map(({ action }) => action);

describe('a relayer that an operator retires', () => {
  let scene: RelayScene;
  let node: TestNode;
  beforeEach(async () => {
    scene = await openRelayScene({ relayers: 2, witnesses: 2 });
    node = await scene.newNode();
  });
  afterEach(() => scene.close());

  const [first, second] = [0, 1].map((index) => () => scene.signers[index]?.address ?? '') as [
    () => string,
    () => string,
  ];
  const named = (address: string) =>
    ({ network: scene.network, address, kind: 'relayer', actor: 'operator:ann' }) as const;
  const senders = async () => new Set((await scene.versions()).map(({ signer }) => signer));
  const pay = async (count: number) => {
    const accepted = [];
    for (let number = 0; number < count; number += 1) accepted.push(await scene.accept());
    return accepted;
  };

  it('takes no new item, and the others take its share without delay', async () => {
    await pay(8);
    await node.turn();
    assert.deepEqual(await senders(), new Set([first(), second()]), 'both have a share');
    await node.turn(2);
    await retireAccount(scene, named(first()));
    scene.pass(1_000);
    const before = (await scene.versions()).filter(({ signer }) => signer === first()).length;
    const later = await pay(8);
    // One round, long before another signer may take what waits in a share.
    await node.turn();
    await node.turn();
    for (const { id } of later) assert.equal(await scene.status(id), 'succeeded');
    assert.equal((await scene.versions()).filter(({ signer }) => signer === first()).length, before);
    assert.deepEqual(await audited(scene), ['account.retired']);
  });

  it('finishes what it has stored, also after the death of its node', async () => {
    const accepted = await pay(8);
    scene.control.broadcasts('lost');
    await node.relay();
    const { sends } = await retireAccount(scene, named(first()));
    assert.equal(sends, 1, 'the command names the transaction in flight');
    const next = await scene.newNode();
    scene.pass(MINUTE_MS);
    await next.turn(4);
    for (const { id, item } of accepted) {
      assert.equal(await scene.status(id), 'succeeded');
      assert.equal(scene.control.balanceOf(item.recipient, item.asset), item.amount - item.fee, 'paid once');
    }
    const open = (await scene.versions()).filter(({ signer, state }) => signer === first() && state === 'open');
    assert.deepEqual(open, []);
  });

  it('is not the last one: payments would wait for ever', async () => {
    await retireAccount(scene, named(first()));
    await assert.rejects(retireAccount(scene, named(second())), /No other relayer would send payments.*RELAYER_KEYS/);
    await assert.rejects(retireAccount(scene, named(first())), /is retired already/);
    const stranger = scene.payers.newAccount();
    await assert.rejects(retireAccount(scene, named(stranger)), /is no relayer of ours/);
    assert.deepEqual(await audited(scene), ['account.retired']);
  });

  it('works again when it is added', async () => {
    await assert.rejects(addAccount(scene, named(first())), /is one of our accounts .* already/);
    await retireAccount(scene, named(first()));
    await addAccount(scene, named(first()));
    await retireAccount(scene, named(second()));
    scene.pass(1_000);
    const [payment] = await pay(1);
    await node.turn(2);
    assert.equal(await scene.status(payment?.id ?? ''), 'succeeded');
    assert.deepEqual(await senders(), new Set([first()]));
    await assert.rejects(addAccount(scene, named(scene.payers.newAccount())), /No key of .* RELAYER_KEYS/);
  });

  it('is retired by a row of the gateway alone', async () => {
    await command(
      scene,
      (tx) => tx`
      insert into account_states (network, address, kind, decision, since, mac)
      values (${scene.network}, ${first()}, 'relayer', 'retired', now(), 'AAAA')`,
    );
    scene.pass(1_000);
    await pay(8);
    await node.turn();
    assert.deepEqual(await senders(), new Set([first(), second()]));
    await assert.rejects(
      command(scene, (tx) => tx`delete from account_states`),
      /never changed or deleted/,
    );
  });
});

describe('an intermediate account that is replaced in operation', () => {
  let scene: RefundScene;
  let node: TestNode;
  beforeEach(async () => {
    scene = await openRefundScene({ witnesses: 2 });
    node = await scene.newNode();
    await scene.live(node, 1);
  });
  afterEach(() => scene.close());

  const named = (address: string) =>
    ({ network: scene.network, address, kind: 'intermediate', actor: 'operator:ann' }) as const;
  const settings = (present: Signer, others: readonly Signer[]) =>
    Object.assign(scene.connected, {
      intermediateAccount: present.address,
      intermediateSigner: present,
      otherIntermediates: others,
    });
  const inForce = async () =>
    (await usedAccounts(scene.db.sql, scene, scene.network)).findLast(({ kind }) => kind === 'intermediate')?.address;
  const balances = (asset = DOLLAR) => [OLD, NEW].map(({ address }) => scene.control.balanceOf(address, asset));
  const rotate = async () => {
    settings(OLD, [NEW]);
    await addAccount(scene, named(NEW.address));
    settings(NEW, [OLD]);
    scene.pass(1_000);
    await rotateAccount(scene, named(NEW.address));
    node = await scene.newNode();
  };
  const differences = async () => (await reconcile(scene, scene.connected, { from: 0 }))?.differences;

  it('pays out what it holds, while the new one takes what comes', async () => {
    const old = await scene.paid(node, { isHeld: true });
    await rotate();
    const fresh = await scene.accept({ isHeld: true, terms: { recipient: NEW.address } });
    await scene.live(node, 3);
    assert.deepEqual(balances(), [990n, 990n]);
    assert.deepEqual(await differences(), []);
    const destination = scene.payers.newAccount();
    await scene.register(destination);
    await scene.live(node, 5);
    assert.deepEqual(balances(), [0n, 0n]);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 1_980n);
    for (const { id } of [old, fresh]) assert.equal((await scene.settlement(id))?.amount, '990');
    assert.deepEqual(await differences(), []);
    assert.deepEqual(await audited(scene), ['account.added', 'account.rotated']);
  });

  it('is still swept to: deposit addresses name it for ever', async () => {
    const deposit = await scene.deposit({ isHeld: true });
    const late = await scene.deposit({ isHeld: true });
    await rotate();
    deposit.send(deposit.item.amount);
    await scene.live(node, 6);
    assert.equal(await scene.status(deposit.id), 'succeeded');
    const [lot] = await scene.lots(deposit.id);
    assert.equal(lot?.account, OLD.address, 'booked by account');
    assert.deepEqual(balances(), [deposit.item.amount - deposit.item.fee, 0n]);
    await assert.rejects(retireAccount(scene, named(OLD.address)), /deposit addresses that name it/);
    const destination = scene.payers.newAccount();
    await scene.register(destination);
    late.send(late.item.amount);
    await scene.live(node, 8);
    assert.deepEqual(balances(), [0n, 0n]);
    const net = deposit.item.amount - deposit.item.fee + late.item.amount - late.item.fee;
    assert.equal(scene.control.balanceOf(destination, DOLLAR), net);
    assert.deepEqual(await differences(), []);
  });

  it('is replaced only where no money is stranded', async () => {
    await assert.rejects(rotateAccount(scene, named(NEW.address)), /Set INTERMEDIATE_ACCOUNT and INTERMEDIATE_KEY/);
    settings(NEW, []);
    await assert.rejects(rotateAccount(scene, named(NEW.address)), /would be stranded.*OTHER_INTERMEDIATE_KEYS.*adopt/);
    settings(NEW, [OLD]);
    await scene.register(NEW.address).catch(() => {});
    await assert.rejects(rotateAccount(scene, named(NEW.address)), /is a destination of/);
    assert.deepEqual(await audited(scene), []);
    assert.equal(await inForce(), OLD.address);
  });

  it('is known before it is used: nobody is paid at it', async () => {
    await assert.rejects(addAccount(scene, named(NEW.address)), /No key of .* OTHER_INTERMEDIATE_KEYS/);
    settings(OLD, [NEW]);
    await addAccount(scene, named(NEW.address));
    assert.equal(await inForce(), OLD.address);
    const own = await storedAccounts(scene.db.sql, scene, scene.network);
    assert.ok(own.some(({ address }) => address === NEW.address));
    const [namespace = '', reference = ''] = scene.network.split(':');
    const account = { chainId: scene.network, namespace, reference, address: NEW.address } as never;
    await assert.rejects(
      command(scene, (tx) => refuseOwnPlaces(tx, scene, [{ field: 'destination', account }])),
      (error: { issues?: unknown }) => JSON.stringify(error).includes('own account'),
    );
  });

  it('lets nodes with the settings of before start, and these change nothing', async () => {
    await scene.paid(node, { isHeld: true });
    await rotate();
    // A node crashes after the rotation, and its process manager starts it with the settings of before.
    settings(OLD, [NEW]);
    await rememberAccounts(scene);
    assert.equal(await inForce(), NEW.address);
    // Without the key of the new account it could not pay out what other nodes take.
    settings(OLD, []);
    await assert.rejects(rememberAccounts(scene), /the books hold money on .*till accounts rotate/);
  });

  it('keeps its floats: they pay refunds, and are returned, from where they are', async () => {
    await scene.fill(node, scene.merchantId, 5_000n);
    await scene.fill(node, OPERATOR_FLOAT, 50n);
    const { id, payer, item } = await scene.paid(node);
    await rotate();
    await scene.request(id);
    await scene.live(node, 5);
    assert.equal((await scene.refund(id)).state, 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount);
    const recipient = scene.payers.newAccount();
    const owned = await scene.floats();
    for (const [owner, units] of Object.entries(owned)) {
      await returnFloat(scene, { owner, asset: DOLLAR, units: BigInt(units), recipient, actor: 'test' });
    }
    await scene.live(node, 5);
    assert.deepEqual(balances(), [0n, 0n]);
    assert.deepEqual(await differences(), []);
  });

  it('has its coin in the books with the new one: neither opening balances nor arrivals are lost or doubled', async () => {
    const coin = coinOf(scene.network);
    assert.equal(coin, COIN);
    const lease = node.watcher.lease;
    await recordCoin({ ...scene, holder: 'test' }, { connected: scene.connected, lease });
    const held = await scene.offerHeld();
    held.pay();
    await scene.live(node, 3);
    const [before = 0n] = balances(coin);
    scene.control.setBalance(NEW.address, coin, 7_000n);
    await rotate();
    scene.sendCoin(300n, { to: OLD.address });
    await scene.live(node, 2);
    await recordCoin({ ...scene, holder: 'test' }, { connected: scene.connected, lease: node.watcher.lease });
    const found = await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 });
    assert.deepEqual(
      found.map(({ account, amount }) => [account, amount]),
      [[OLD.address, '300']],
    );
    assert.deepEqual(balances(coin), [before + 300n, 7_000n]);
    assert.deepEqual(await differences(), []);
    await checkSolvency(scene, scene.connected);
    assert.deepEqual(await listFreezes(scene.db.sql), []);
  });

  /** Money leaves an account by a transaction that the gateway did not order. */
  const withdraw = (from: string, units: bigint, to = scene.payers.newAccount()) => {
    scene.control.setBalance(from, DOLLAR, scene.control.balanceOf(from, DOLLAR) - units);
    return scene.transfer({ from, to, units });
  };
  const bringTo = async (to: string, units: bigint) => {
    const transactionHash = scene.transfer({ from: scene.payers.newAccount(), to, units });
    await scene.live(node, 2);
    return addFloat(scene, { owner: OPERATOR_FLOAT, asset: DOLLAR, transactionHash, actor: 'test' });
  };
  const missing = async () => {
    const booked = Object.entries(await scene.books()).filter(([account]) => account.startsWith('missing/'));
    return Object.fromEntries(booked);
  };
  const alertsNamed = async (name: string) => (await scene.alerts()).filter((alert) => alert.startsWith(`${name} `));
  async function checkCover() {
    for (let time = 0; time < 2; time += 1) {
      await scene.live(node, 1);
      await checkSolvency(scene, scene.connected);
    }
    return (await listFreezes(scene.db.sql)).map(({ scope, subject }) => `${scope} ${subject}`);
  }

  for (const where of ['the old account', 'the new account']) {
    it(`has departures that nobody ordered: the float there bears them, and the rest is missing until money is brought to ${where}`, async () => {
      await scene.fill(node, OPERATOR_FLOAT, 50n);
      await scene.paid(node, { isHeld: true });
      await rotate();
      withdraw(OLD.address, 120n);
      await scene.live(node, 4);
      assert.deepEqual(
        [await scene.floats(), await missing()],
        [{ [OPERATOR_FLOAT]: '0' }, { [ACCOUNTS.missing(OLD.address)]: -70n }],
      );
      assert.equal((await alertsNamed('money_left')).length, 1);
      assert.deepEqual(await differences(), []);
      assert.deepEqual(await checkCover(), [`asset ${DOLLAR}`]);
      const account = where === 'the old account' ? OLD.address : NEW.address;
      await bringTo(account, 30n);
      assert.deepEqual(await missing(), { [ACCOUNTS.missing(OLD.address)]: -40n });
      await bringTo(account, 45n);
      assert.deepEqual([await scene.floats(), await missing()], [{ [OPERATOR_FLOAT]: '5' }, {}]);
      assert.deepEqual([await checkCover(), await alertsNamed('money_left'), await differences()], [[], [], []]);
    });
  }

  it('has departures that take no float of the operator on the other account', async () => {
    await scene.paid(node, { isHeld: true });
    await rotate();
    await bringTo(NEW.address, 500n);
    withdraw(OLD.address, 120n);
    await scene.live(node, 4);
    assert.deepEqual(
      [await scene.floats(), await missing()],
      [{ [OPERATOR_FLOAT]: '500' }, { [ACCOUNTS.missing(OLD.address)]: -120n }],
    );
    assert.deepEqual(await differences(), []);
  });

  it('is emptied by hand before the gateway knows the new one: the money is not missing any more once it does', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 50n);
    await scene.fill(node, scene.merchantId, 300n);
    await scene.paid(node, { isHeld: true });
    withdraw(OLD.address, 1_340n, NEW.address);
    await scene.live(node, 4);
    assert.deepEqual(await missing(), { [ACCOUNTS.missing(OLD.address)]: -1_290n });
    assert.deepEqual(await checkCover(), [`asset ${DOLLAR}`]);
    scene.pass(1_000);
    await adoptAccount(scene, { network: scene.network, address: NEW.address, actor: 'operator:ann' });
    settings(NEW, [OLD]);
    node = await scene.newNode();
    await scene.live(node, 3);
    assert.deepEqual(await missing(), {});
    assert.deepEqual(await scene.floats(), { [OPERATOR_FLOAT]: '50', [scene.merchantId]: '300' });
    const floats = await listFloats(scene.db.sql);
    assert.deepEqual(
      new Set(floats.map(({ account }) => account)),
      new Set([NEW.address]),
      'they have followed the money',
    );
    assert.deepEqual([await checkCover(), await alertsNamed('money_left'), await differences()], [[], [], []]);
    assert.deepEqual(await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 }), []);
  });

  it('is emptied by hand too early: money that has come back before the gateway knows the new account is there once', async () => {
    await scene.paid(node, { isHeld: true });
    withdraw(OLD.address, 990n, NEW.address);
    await scene.live(node, 4);
    assert.deepEqual(await missing(), { [ACCOUNTS.missing(OLD.address)]: -990n });
    const transactionHash = withdraw(NEW.address, 400n, OLD.address);
    await scene.live(node, 4);
    await addFloat(scene, { owner: OPERATOR_FLOAT, asset: DOLLAR, transactionHash, actor: 'test' });
    withdraw(NEW.address, 100n, OLD.address);
    await scene.live(node, 4);
    assert.deepEqual(await missing(), { [ACCOUNTS.missing(OLD.address)]: -590n });
    scene.pass(1_000);
    await adoptAccount(scene, { network: scene.network, address: NEW.address, actor: 'operator:ann' });
    settings(NEW, [OLD]);
    node = await scene.newNode();
    await scene.live(node, 3);
    // 490 lie on the new account. 400 have filled the gap, and 100 belong to nobody yet.
    assert.deepEqual([await missing(), await scene.floats()], [{ [ACCOUNTS.missing(OLD.address)]: -100n }, {}]);
    assert.deepEqual(await differences(), []);
  });

  it('gives its floats to the new one when the money is moved, also while nodes have the settings of before', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 50n);
    scene.pass(1_000);
    await adoptAccount(scene, { network: scene.network, address: NEW.address, actor: 'operator:ann' });
    withdraw(OLD.address, 50n, NEW.address);
    await scene.live(node, 3);
    const [float] = await listFloats(scene.db.sql);
    assert.deepEqual([float?.account, float?.units], [NEW.address, '50']);
  });

  it('is retired when it is empty, and not before', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await assert.rejects(retireAccount(scene, named(OLD.address)), /Run till accounts rotate .* first/);
    await rotate();
    await assert.rejects(retireAccount(scene, named(OLD.address)), /holds money of 1 payments: register destinations/);
    const destination = scene.payers.newAccount();
    await scene.register(destination);
    await scene.live(node, 5);
    assert.equal((await scene.payout(id))?.state, 'paid');
    await retireAccount(scene, named(OLD.address));
    assert.deepEqual(await audited(scene), ['account.added', 'account.rotated', 'account.retired']);
    settings(OLD, [NEW]);
    await assert.rejects(scene.newNode(), /which is retired/);
    await assert.rejects(rotateAccount(scene, named(OLD.address)), /is retired. Run till accounts add/);
  });
});

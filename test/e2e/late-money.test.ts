import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { acceptItems } from '../../src/actions/books/record.ts';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { command } from '../../src/actions/command.ts';
import { beginOutgoing } from '../../src/actions/outgoing/begin/begin-outgoing.ts';
import { beginReturns } from '../../src/actions/outgoing/return/begin-returns.ts';
import { requestReturn } from '../../src/actions/outgoing/return/request-return.ts';
import { isOwnReturn, renewReturnMacs } from '../../src/actions/outgoing/return/return-rows.ts';
import { returnUnexpected } from '../../src/actions/outgoing/return/return-unexpected.ts';
import { vetoReturn } from '../../src/actions/outgoing/return/veto-return.ts';
import { putFreeze } from '../../src/actions/parties/freeze.ts';
import { within } from '../../src/actions/renew-macs.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { parseAccount } from '../../src/domain/caip.ts';
import type { LateMoney } from '../../src/domain/late-money.ts';
import { listEvents } from '../../src/store/events/events.ts';
import { findLateMoney, findReturnable, postponeReturn } from '../../src/store/money/late-money.ts';
import { findUnexpected, listUnexpected, type UnexpectedMoney } from '../../src/store/money/unexpected-money.ts';
import { lockFreezes } from '../../src/store/parties/freezes.ts';
import { createTestKey, startTestGateway, type TestGateway } from '../gateway.ts';
import type { Json } from './list-test.ts';
import { DOLLAR, openRefundScene, type RefundScene, TETHER } from './refund-scene.ts';
import type { SceneInput, TestNode } from './relay-scene.ts';

const HOUR_MS = 3_600_000;
const STATES = ['unclaimed', 'requested', 'float', 'returning', 'returned'] as const;

describe('late money that a partner gives back', () => {
  let scene: RefundScene;
  let node: TestNode;
  const open = async (input: SceneInput = {}) => {
    scene = await openRefundScene(input);
    node = await scene.newNode();
    await scene.live(node, 1);
  };
  beforeEach(() => open());
  afterEach(() => scene.close());

  /** A payment that was paid after its end: 1,000 units, 10 of them the fee. */
  async function paidLate(isHeld: boolean): Promise<UnexpectedMoney> {
    const late = await scene.accept({ isHeld });
    const failed = { type: 'failed', failureCode: null } as const;
    await scene.movePayment({ paymentId: late.id, event: failed, actor: 'test', evidence: {} });
    await scene.live(node, 3);
    return unexpectedOf(late.id);
  }

  /** The sender of a transfer to the address of a cancelled payment is unknown. */
  async function sentLate(token = DOLLAR): Promise<UnexpectedMoney> {
    const { id, send } = await scene.deposit();
    const cancelled = { type: 'cancelled', by: 'merchant' } as const;
    await scene.movePayment({ paymentId: id, event: cancelled, actor: 'test', evidence: {} });
    send(1_000n, { token });
    await scene.live(node, 4);
    return unexpectedOf(id);
  }

  async function unexpectedOf(paymentId: string): Promise<UnexpectedMoney> {
    const all = await listUnexpected(scene.db.sql, { states: STATES, limit: 50 });
    const found = all.find((unexpected) => unexpected.paymentId === paymentId);
    assert.ok(found, 'the money is known');
    return found;
  }

  const unexpected = async (id: string) => (await findUnexpected(scene.db.sql, [id]))[0] as UnexpectedMoney;
  const account = (address: string, network = scene.network) => {
    const parsed = parseAccount(`${network}:${address}`);
    assert.ok(parsed.ok);
    return parsed.value;
  };
  const request = (id: string, address: string, more: { coolingOffMs?: number; network?: string } = {}) =>
    requestReturn(
      scene,
      {
        id,
        merchantId: scene.merchantId,
        destination: account(address, more.network),
        actor: 'key:test',
        coolingOffMs: more.coolingOffMs ?? 0,
      },
      undefined,
      ({ state }) => ({ status: 200, body: state }),
    );
  const returnEvents = async (paymentId: string | null) =>
    (await listEvents(scene.db.sql, paymentId ?? ''))
      .filter(({ type }) => type === 'payment.late_money_updated')
      .map(({ data }) => {
        const { status, destination, problem } = data.lateMoney as LateMoney;
        return `${status} ${destination?.split(':').at(-1) ?? '-'} ${problem ?? '-'}`;
      });
  const freeze = (scope: 'merchant' | 'refunds', subject: string) =>
    command(scene, async (tx, since) => {
      await lockFreezes(tx);
      await putFreeze(tx, scene, { scope, subject, reason: 'test', actor: 'test', since });
    });

  /** The lines of a payment in the export for bookkeeping. */
  async function withGateway<T>(work: (gateway: TestGateway) => Promise<T>): Promise<T> {
    const { databaseUrl, chains, nowMs } = scene;
    const gateway = await startTestGateway({ databaseUrl, chains, world: { clock: { nowMs } } });
    try {
      return await work(gateway);
    } finally {
      await gateway.stop();
    }
  }

  /** Late money as the payer's page gets it. */
  const moneyOfPayer = (paymentId: string | null): Promise<Json[]> =>
    withGateway(async (gateway) => {
      const { secret } = await createTestKey(gateway, 'prtn_test');
      const headers = { 'api-key': secret, 'merchant-id': scene.merchantId };
      return (await gateway.call({ url: `/v1/gateway/payment/${paymentId}`, headers })).json().lateMoney;
    });

  const bookLines = (paymentId: string | null): Promise<Json[]> =>
    withGateway(async (gateway) => {
      const { secret } = await createTestKey(gateway, 'prtn_test');
      const { body } = await gateway.call({
        url: '/v1/exports/payments?content=bookkeeping&format=jsonl',
        headers: { 'api-key': secret, 'merchant-id': scene.merchantId },
      });
      const lines: Json[] = body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
      return lines.filter((line) => line.paymentId === paymentId);
    });

  for (const isHeld of [true, false]) {
    it(`is exported with its return, from ${isHeld ? 'the held amount' : 'floats'}, and the lines add up to zero`, async () => {
      const { id, paymentId } = await paidLate(isHeld);
      await scene.fill(node, OPERATOR_FLOAT, 10n);
      if (!isHeld) await scene.fill(node, scene.merchantId, 990n);
      const friend = scene.payers.newAccount();
      const shownToPayer = async () =>
        (await moneyOfPayer(paymentId)).map(({ reason, status, amount, returnTxId, message }) => [
          `${reason} ${amount.value} ${status}`,
          returnTxId,
          message,
        ]);
      assert.deepEqual(await shownToPayer(), [
        [
          'late 1000 unclaimed',
          null,
          'The merchant was notified and can return it. Ask the merchant, and name the account that should get it.',
        ],
      ]);
      await request(id, friend);
      assert.deepEqual(await shownToPayer(), [
        ['late 1000 requested', null, 'Its return was requested. It may wait some time before it is sent.'],
      ]);
      await scene.live(node, 6);
      assert.equal((await unexpected(id)).state, 'returned');
      const [[text, returnTxId, message] = []] = await shownToPayer();
      assert.deepEqual([text, message], ['late 1000 returned', 'It was returned.']);
      assert.ok(returnTxId, 'the transaction of its return is named');
      const lines = await bookLines(paymentId);
      const unitsOf = (line: Json) => Math.round(line.amount * 1e6);
      const returned = lines.filter(({ type }) => type === 'late_return');
      assert.deepEqual(
        returned.map((line) => [unitsOf(line), line.account]),
        [[-1_000, `${scene.network}:${friend}`]],
      );
      assert.ok(lines.some((line) => line.type === 'late_payment' && unitsOf(line) === 1_000));
      assert.equal(
        lines.reduce((sum, line) => sum + unitsOf(line), 0),
        0,
        JSON.stringify(lines),
      );
    });
  }

  for (const isHeld of [true, false]) {
    it(`arrives whole, from ${isHeld ? 'the held amount' : 'floats'}, and the books agree at each step`, async () => {
      const { id, paymentId } = await paidLate(isHeld);
      await scene.fill(node, OPERATOR_FLOAT, 10n);
      if (!isHeld) await scene.fill(node, scene.merchantId, 990n);
      const friend = scene.payers.newAccount();
      assert.equal((await request(id, friend)).body, 'requested');
      assert.deepEqual(await scene.differences(), []);
      await beginReturns(scene);
      assert.equal((await unexpected(id)).state, 'returning');
      assert.deepEqual(await scene.differences(), []);
      await beginReturns(scene);
      await scene.live(node);
      assert.equal((await unexpected(id)).state, 'returned');
      assert.equal(scene.control.balanceOf(friend, DOLLAR), 1_000n);
      assert.deepEqual(await returnEvents(paymentId), [
        `requested ${friend} -`,
        `returning ${friend} -`,
        `returned ${friend} -`,
      ]);
      assert.equal((await scene.floats())[OPERATOR_FLOAT], '0');
      assert.deepEqual(await scene.alerts(), []);
      assert.deepEqual(await scene.differences(), []);
      const report = await rebuild(scene, scene.connected, { from: 0 });
      assert.deepEqual([report?.rebuilt, report?.unplaced], [[], []]);
      await assert.rejects(request(id, friend), { code: 'invalid_state', status: 409 });
    });
  }

  for (const token of [DOLLAR, TETHER]) {
    const what = token === DOLLAR ? 'late' : 'a wrong token';
    it(`arrives from a deposit address: ${what}, of a sender whom nobody knows`, async () => {
      await scene.close();
      await open({ watching: { sweepFrom: () => 0n } });
      const money = await sentLate(token);
      assert.deepEqual([money.reason, money.sender], [token === DOLLAR ? 'late' : 'wrong_token', null]);
      await assert.rejects(request(money.id, scene.payers.newAccount()), /the float of mrch_test lacks 0\.00099 USD/);
      await scene.fill(node, OPERATOR_FLOAT, 10n, token);
      await scene.fill(node, scene.merchantId, 990n, token);
      const friend = scene.payers.newAccount();
      await request(money.id, friend);
      await scene.live(node, 6);
      assert.equal((await unexpected(money.id)).state, 'returned');
      assert.equal(scene.control.balanceOf(friend, token), 1_000n);
      assert.deepEqual(await scene.differences(), []);
    });
  }

  for (const isHeld of [true, false]) {
    for (const isRequested of [true, false]) {
      const name = `${isHeld ? 'held' : 'direct'}, ${isRequested ? 'requested' : 'unclaimed'}`;
      it(`is named once when a deep reorganisation has it mined by another transaction: ${name}`, async () => {
        await scene.fill(node, OPERATOR_FLOAT, 10n);
        if (!isHeld) await scene.fill(node, scene.merchantId, 990n);
        const late = await scene.accept({ isHeld });
        const failed = { type: 'failed', failureCode: null } as const;
        await scene.movePayment({ paymentId: late.id, event: failed, actor: 'test', evidence: {} });
        await scene.live(node, 3);
        const before = await unexpectedOf(late.id);
        if (isRequested) await request(before.id, scene.payers.newAccount(), { coolingOffMs: HOUR_MS });
        scene.control.reorg(3, { transactions: 'dropped', length: 4 });
        const transactionHash = scene.control.relayAsStranger([late.signed]);
        await scene.live(node, 6);
        const all = await listUnexpected(scene.db.sql, { states: STATES, limit: 50 });
        assert.deepEqual(
          all.filter(({ paymentId }) => paymentId === late.id).map((each) => [each.state, each.transactionHash]),
          [[isRequested ? 'requested' : 'unclaimed', transactionHash]],
        );
        assert.notEqual(transactionHash, before.transactionHash);
        assert.deepEqual(await scene.differences(), []);
      });
    }
  }

  for (const isTurned of [false, true]) {
    const order = isTurned ? 'the other' : 'the same';
    for (const isHeld of [true, false]) {
      const where = isHeld ? 'held' : 'direct';
      it(`is given its own event when a deep reorganisation has two items of one payer mined in ${order} order: ${where}`, async () => {
        await scene.fill(node, OPERATOR_FLOAT, 20n);
        if (!isHeld) await scene.fill(node, scene.merchantId, 4_000n);
        const late = await scene.accept({ isHeld });
        const terms = { subject: late.id, recipient: late.item.recipient, amount: 3_000n };
        const item = await scene.payers.newItem(late.payer, 'eip3009-vrs', terms);
        scene.control.setBalance(item.payer, DOLLAR, 4_000n);
        const signed = await scene.payers.signItem(late.payer, item);
        const stored = { ...scene.newItem(item, { state: 'due', signature: signed.signature }), isHeld };
        await command(scene, (tx, at) => acceptItems(tx, [stored], { merchantOf: () => scene.merchantId, at }));
        const failed = { type: 'failed', failureCode: null } as const;
        await scene.movePayment({ paymentId: late.id, event: failed, actor: 'test', evidence: {} });
        await scene.live(node, 3);
        const rows = async () =>
          (await listUnexpected(scene.db.sql, { states: STATES, limit: 50 })).filter(
            ({ paymentId }) => paymentId === late.id,
          );
        const before = await rows();
        assert.equal(before.length, 2);
        for (const { id } of before) await request(id, scene.payers.newAccount(), { coolingOffMs: HOUR_MS });
        scene.control.reorg(3, { transactions: 'dropped', length: 4 });
        const batch = [late.signed, signed];
        const mined = new Map<string, string>();
        for (const each of isTurned ? batch.toReversed() : batch) {
          mined.set(`${each.item.amount}`, scene.control.relayAsStranger([each]));
          await scene.live(node, 2);
        }
        await scene.live(node, 6);
        assert.deepEqual(
          new Map((await rows()).map(({ amount, transactionHash }) => [amount, transactionHash])),
          mined,
        );
        assert.deepEqual(await scene.differences(), []);
      });
    }
  }

  it('goes with a deep reorganisation that removes it for good', async () => {
    const { id } = await paidLate(true);
    scene.control.reorg(3, { transactions: 'dropped', length: 4 });
    await node.watch();
    assert.equal(await unexpected(id), undefined);
  });

  it('arrives from a deposit address that was swept twice, each time with a fee', async () => {
    await scene.close();
    await open({ watching: { sweepFrom: () => 0n } });
    const { id, send } = await scene.deposit();
    const cancelled = { type: 'cancelled', by: 'merchant' } as const;
    await scene.movePayment({ paymentId: id, event: cancelled, actor: 'test', evidence: {} });
    for (const units of [330n, 1_000n]) {
      send(units);
      await scene.live(node, 4);
    }
    const money = await unexpectedOf(id);
    // The contract limits the fee of each sweep to the asked fee of 10, and not the fees of all sweeps.
    assert.deepEqual([money.amount, money.fee], ['1330', '13']);
    await scene.fill(node, OPERATOR_FLOAT, 13n);
    await scene.fill(node, scene.merchantId, 1_317n);
    const friend = scene.payers.newAccount();
    await request(money.id, friend);
    await scene.live(node, 6);
    assert.deepEqual(await scene.alerts(), []);
    assert.equal((await unexpected(money.id)).state, 'returned');
    assert.equal(scene.control.balanceOf(friend, DOLLAR), 1_330n);
    assert.deepEqual(await scene.differences(), []);
  });

  describe('and to which somebody else has sent a unit after its sweep', () => {
    /** Late money that was swept, and units that joined it and are too little for a sweep of their own. */
    async function sweptWithDust(units: bigint, dust: bigint) {
      const { id: paymentId, send } = await scene.deposit({ isHeld: true, amount: 10_000_000n });
      const cancelled = { type: 'cancelled', by: 'merchant' } as const;
      await scene.movePayment({ paymentId, event: cancelled, actor: 'test', evidence: {} });
      send(units);
      await scene.live(node, 6);
      send(dust);
      await scene.live(node, 4);
      const money = await unexpectedOf(paymentId);
      assert.equal(money.amount, `${units + dust}`);
      return { ...money, send };
    }
    async function lives(hours: number) {
      for (let hour = 0; hour < hours; hour += 1) {
        await scene.live(node, 4);
        scene.pass(HOUR_MS);
      }
      await scene.live(node, 6);
    }

    it('is swept again because its return was requested, and needs no float of the merchant', async () => {
      const { id, send } = await sweptWithDust(7_000_000n, 1n);
      await scene.fill(node, OPERATOR_FLOAT, 7n);
      const friend = scene.payers.newAccount();
      await request(id, friend, { coolingOffMs: HOUR_MS });
      const ask = { id, merchantId: scene.merchantId, now: new Date(scene.nowMs()) };
      assert.equal((await findLateMoney(scene.db.sql, ask))?.lack, '0');
      await scene.live(node, 4);
      // Whoever sends more delays nothing.
      send(1n);
      await lives(2);
      assert.equal((await unexpected(id)).state, 'returned');
      assert.equal(scene.control.balanceOf(friend, DOLLAR), 7_000_001n);
      assert.equal((await scene.floats())[scene.merchantId], undefined);
      assert.deepEqual(await scene.alerts(), []);
      assert.deepEqual(await scene.differences(), []);
    });

    it('is swept again although nothing follows the request, long after the address has ended', async () => {
      const { id } = await sweptWithDust(7_000_000n, 1n);
      await lives(3);
      await scene.fill(node, OPERATOR_FLOAT, 7n);
      await scene.live(node, 6);
      const friend = scene.payers.newAccount();
      await request(id, friend);
      for (let turn = 0; turn < 6; turn += 1) {
        await scene.live(node, 2);
        scene.pass(11_000);
      }
      assert.equal((await unexpected(id)).state, 'returned');
      assert.equal(scene.control.balanceOf(friend, DOLLAR), 7_000_001n);
    });

    it('is returned by the operator at once: the float of the merchant lends the unit, which follows', async () => {
      const { id } = await sweptWithDust(7_000_000n, 1n);
      await scene.fill(node, OPERATOR_FLOAT, 7n);
      const friend = scene.payers.newAccount();
      const giveBack = () => returnUnexpected(scene, { id, to: account(friend), actor: 'operator' });
      await assert.rejects(giveBack(), { message: /the float of mrch_test lacks 0\.000001 USDC\./ });
      await scene.fill(node, scene.merchantId, 1n);
      await giveBack();
      await scene.live(node, 6);
      assert.equal((await unexpected(id)).state, 'returned');
      assert.equal(scene.control.balanceOf(friend, DOLLAR), 7_000_001n);
      assert.deepEqual(await scene.differences(), []);
    });

    it('bears the fee of the sweep alone: what others sent is no fee that is owed', async () => {
      const { id, fee } = await sweptWithDust(300_000_000n, 100n);
      assert.equal(fee, '10');
      await scene.fill(node, OPERATOR_FLOAT, 10n);
      const friend = scene.payers.newAccount();
      await request(id, friend);
      await lives(2);
      assert.equal((await unexpected(id)).state, 'returned');
      assert.equal(scene.control.balanceOf(friend, DOLLAR), 300_000_100n);
      assert.deepEqual(await scene.floats(), { operator: '0' });
      assert.deepEqual(await scene.differences(), []);
    });
  });

  async function arrivesInOneSweep(amounts: readonly bigint[]) {
    await scene.close();
    await open({ watching: { sweepFrom: () => 0n } });
    const { id: paymentId, send } = await scene.deposit({ isHeld: true, amount: 10_000_000n });
    const cancelled = { type: 'cancelled', by: 'merchant' } as const;
    await scene.movePayment({ paymentId, event: cancelled, actor: 'test', evidence: {} });
    for (const units of amounts) send(units);
    const late = async () =>
      (await listUnexpected(scene.db.sql, { states: STATES, limit: 50 }))
        .filter((each) => each.paymentId === paymentId)
        .toSorted((a, b) => Number(BigInt(a.amount) - BigInt(b.amount)) || Number(BigInt(a.fee) - BigInt(b.fee)));
    return { late };
  }

  it('arrives from a deposit address where one sweep took several transfers, and one bears the unit of rounding', async () => {
    const { late } = await arrivesInOneSweep([3_500_000n, 3_500_000n]);
    await scene.live(node, 6);
    const all = await late();
    assert.deepEqual(
      all.map(({ amount, fee }) => `${fee} of ${amount}`),
      ['3 of 3500000', '4 of 3500000'],
    );
    await scene.fill(node, OPERATOR_FLOAT, 7n);
    const friend = scene.payers.newAccount();
    // The dearer one first, and alone.
    for (const { id } of all.toReversed()) {
      await request(id, friend);
      await scene.live(node, 6);
      assert.equal((await unexpected(id)).state, 'returned');
    }
    assert.deepEqual(await scene.alerts(), []);
    assert.equal(scene.control.balanceOf(friend, DOLLAR), 7_000_000n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('leaves whole while the token refuses the fee account: the operator’s float gives the owed fee back', async () => {
    const { late } = await arrivesInOneSweep([4_300_000n, 5_700_000n]);
    const { feeAccount } = scene.connected;
    scene.control.setBlacklisted(feeAccount, DOLLAR);
    await scene.live(node, 6);
    const all = await late();
    assert.deepEqual(
      all.map(({ amount, fee }) => `${fee} of ${amount}`),
      ['4 of 4300000', '6 of 5700000'],
    );
    const friend = scene.payers.newAccount();
    const [first, second] = all.map(({ id }) => id) as [string, string];
    await scene.fill(node, OPERATOR_FLOAT, 4n);
    await request(first, friend);
    await scene.live(node, 6);
    assert.equal(scene.control.balanceOf(friend, DOLLAR), 4_300_000n);
    await assert.rejects(request(second, friend), { message: /the operator's float lacks 0\.000006 USDC\. Nothing/ });
    await scene.fill(node, OPERATOR_FLOAT, 6n);
    await request(second, friend);
    await scene.live(node, 6);
    assert.equal(scene.control.balanceOf(friend, DOLLAR), 10_000_000n);
    assert.deepEqual([(await unexpected(first)).state, (await unexpected(second)).state], ['returned', 'returned']);
    assert.equal((await scene.floats())[OPERATOR_FLOAT], '0');
    assert.deepEqual(await scene.differences(), []);
    scene.control.setBlacklisted(feeAccount, DOLLAR, false);
    for (let hours = 0; hours < 3; hours += 1) {
      scene.pass(HOUR_MS);
      await scene.live(node, 4);
    }
    assert.equal(scene.control.balanceOf(feeAccount, DOLLAR), 10n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('names the floats that lack, and moves nothing', async () => {
    const { id, paymentId } = await paidLate(false);
    const friend = scene.payers.newAccount();
    await assert.rejects(request(id, friend), {
      code: 'invalid_state',
      message: `There is too little to return it: the float of mrch_test lacks 0.00099 USDC, and the operator's float lacks 0.00001 USDC. Nothing was moved.`,
    });
    assert.equal((await unexpected(id)).state, 'unclaimed');
    assert.deepEqual(await returnEvents(paymentId), []);
  });

  it('delays no return of others if it cannot begin, however many such returns there are', async () => {
    const { id } = await paidLate(false);
    await scene.fill(node, OPERATOR_FLOAT, 1_000n);
    await scene.fill(node, scene.merchantId, 1_000n);
    await request(id, scene.payers.newAccount());
    // More than a round looks at: returns that were requested earlier, and have a turn again in every round.
    await scene.db.sql`
      insert into strays select (jsonb_populate_record(s, jsonb_build_object(
        'id', 'stry_' || n, 'log_index', 1000 + n, 'requested_at', 'epoch'::timestamptz))).*
      from strays s, generate_series(1, 5) n where s.id = ${id}`;
    const seen: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const ask = { networks: [scene.network], limit: 2, now: new Date(scene.nowMs()) };
      const found = await findReturnable(scene.db.sql, ask);
      seen.push(...found.map((each) => each.id));
      const checkAt = new Date(scene.nowMs() + 10_000);
      for (const each of found) await command(scene, (tx) => postponeReturn(tx, { id: each.id, checkAt }));
      scene.pass(11_000);
    }
    assert.ok(seen.includes(id), seen.join('\n'));
  });

  it('waits when others have used the float since, and goes on with the next one', async () => {
    const first = await paidLate(false);
    const second = await paidLate(false);
    await scene.fill(node, OPERATOR_FLOAT, 20n);
    await scene.fill(node, scene.merchantId, 990n);
    for (const { id } of [first, second]) {
      await request(id, scene.payers.newAccount());
      // The earlier request has its turn first.
      scene.pass(1_000);
    }
    await scene.live(node);
    assert.deepEqual(
      [(await unexpected(first.id)).state, (await unexpected(second.id)).state],
      ['returned', 'requested'],
    );
    const ask = { id: second.id, merchantId: scene.merchantId, now: new Date(scene.nowMs()) };
    assert.equal((await findLateMoney(scene.db.sql, ask))?.lack, '990');
    await scene.fill(node, scene.merchantId, 990n);
    await scene.live(node);
    assert.equal((await unexpected(second.id)).state, 'returned');
    assert.deepEqual(await scene.differences(), []);
  });

  it('is swept because its return was requested, and the operator’s float gives the fee of the sweep back', async () => {
    const { id: paymentId, send } = await scene.deposit({ isHeld: true });
    const cancelled = { type: 'cancelled', by: 'merchant' } as const;
    await scene.movePayment({ paymentId, event: cancelled, actor: 'test', evidence: {} });
    send(1_000n);
    await scene.live(node, 4);
    const { id, fee } = await unexpectedOf(paymentId);
    assert.equal(fee, '0', 'it is too little for a sweep');
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    const friend = scene.payers.newAccount();
    await request(id, friend);
    // The return waits for the sweep, and is looked at again after a while.
    for (let hours = 0; hours < 2; hours += 1) {
      await scene.live(node, 4);
      scene.pass(HOUR_MS);
    }
    await scene.live(node, 6);
    assert.equal((await unexpected(id)).state, 'returned');
    assert.equal(scene.control.balanceOf(friend, DOLLAR), 1_000n);
    assert.equal((await scene.floats())[OPERATOR_FLOAT], '0');
    assert.deepEqual(await scene.differences(), []);
  });

  it('cools off, can be vetoed, and can then be given to another account', async () => {
    const { id, paymentId } = await paidLate(true);
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    const [thief, friend] = [scene.payers.newAccount(), scene.payers.newAccount()];
    await request(id, thief, { coolingOffMs: HOUR_MS });
    await scene.live(node, 2);
    assert.equal((await unexpected(id)).state, 'requested');
    await assert.rejects(returnUnexpected(scene, { id, to: undefined, actor: 'operator' }), /see till strays veto/);
    await vetoReturn(scene, { id, reason: 'a stolen key', actor: 'operator' });
    await assert.rejects(vetoReturn(scene, { id, reason: 'again', actor: 'operator' }), /its state is unclaimed/);
    const { state, recipient, problem, mac } = await unexpected(id);
    assert.deepEqual([state, recipient, problem, mac], ['unclaimed', null, 'vetoed', null]);
    await request(id, friend, { coolingOffMs: HOUR_MS });
    scene.pass(HOUR_MS);
    await scene.live(node);
    assert.deepEqual([scene.control.balanceOf(thief, DOLLAR), scene.control.balanceOf(friend, DOLLAR)], [0n, 1_000n]);
    assert.deepEqual(await returnEvents(paymentId), [
      `requested ${thief} -`,
      'unclaimed - vetoed',
      `requested ${friend} -`,
      `returning ${friend} -`,
      `returned ${friend} -`,
    ]);
    await assert.rejects(vetoReturn(scene, { id, reason: 'late', actor: 'operator' }), /its state is returned/);
    await assert.rejects(vetoReturn(scene, { id: 'stry_none', reason: 'x', actor: 'operator' }), /no unexpected money/);
  });

  it('is requested once of ten at once', async () => {
    const { id } = await paidLate(true);
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    const accounts = Array.from({ length: 10 }, () => scene.payers.newAccount());
    const answers = await Promise.allSettled(accounts.map((each) => request(id, each)));
    const codes = answers.map((answer) => (answer.status === 'fulfilled' ? 'taken' : answer.reason.code));
    assert.deepEqual(codes.sort(), [...Array(9).fill('invalid_state'), 'taken']);
    await Promise.all([beginReturns(scene), beginReturns(scene)]);
    await scene.live(node);
    const sum = accounts.reduce((total, each) => total + scene.control.balanceOf(each, DOLLAR), 0n);
    assert.equal(sum, 1_000n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('goes to no account of ours, no other network and no contract', async () => {
    const { id } = await paidLate(true);
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    const wrong = async (address: string, message: RegExp, network?: string) =>
      assert.rejects(request(id, address, network === undefined ? {} : { network }), message);
    await wrong(scene.intermediate, /operator's own account/);
    await wrong(scene.signers[0]?.address ?? '', /operator's own account/);
    await wrong(scene.connected.feeAccount, /operator's own account/);
    await wrong((await scene.deposit()).address, /must not be a deposit address/);
    await wrong(DOLLAR.slice(DOLLAR.lastIndexOf(':') + 1), /contract of a token/);
    await wrong(scene.payers.newAccount(), /must be an account on/, 'eip155:1');
    assert.equal((await unexpected(id)).state, 'unclaimed');
  });

  it('stops with its merchant, before it is requested, while it waits, and before it is signed', async () => {
    const first = await paidLate(true);
    const second = await paidLate(true);
    await scene.fill(node, OPERATOR_FLOAT, 20n);
    const friend = scene.payers.newAccount();
    await request(first.id, friend);
    await beginReturns(scene);
    await request(second.id, friend);
    await freeze('merchant', scene.merchantId);
    await assert.rejects(request(second.id, friend), { code: 'forbidden' });
    await scene.live(node);
    assert.deepEqual(
      [(await unexpected(first.id)).state, (await unexpected(second.id)).state],
      ['returning', 'requested'],
    );
    assert.equal(scene.control.balanceOf(friend, DOLLAR), 0n);
    const ask = { id: second.id, merchantId: scene.merchantId, now: new Date(scene.nowMs()) };
    assert.equal((await findLateMoney(scene.db.sql, ask))?.isStopped, true);
  });

  it('stops with a freeze of all refunds; a return that the operator orders does not', async () => {
    const [first, second] = [await paidLate(true), await paidLate(true)];
    await scene.fill(node, OPERATOR_FLOAT, 20n);
    const friend = scene.payers.newAccount();
    await request(first.id, friend);
    await freeze('refunds', '');
    await returnUnexpected(scene, { id: second.id, to: account(friend), actor: 'operator' });
    await scene.live(node);
    assert.deepEqual(
      [(await unexpected(first.id)).state, (await unexpected(second.id)).state],
      ['requested', 'returned'],
    );
    assert.deepEqual(await returnEvents(second.paymentId), [`returning ${friend} -`, `returned ${friend} -`]);
  });

  it('is neither sent to a screened account, nor returned for a screened sender', async () => {
    await scene.close();
    const hits = new Set<string>();
    const list = { hash: 'ab'.repeat(32), version: '7', date: '2026-02-28' };
    const decide = (accounts: readonly string[]) => ({ hits: accounts.filter((each) => hits.has(each)), list });
    await open({ screening: { decide } });
    const { id, paymentId, sender } = await paidLate(true);
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    const friend = scene.payers.newAccount();
    hits.add(`${scene.network}:${friend}`);
    await assert.rejects(request(id, friend), { code: 'sanctioned_user' });
    hits.clear();
    hits.add(`${scene.network}:${sender}`);
    await assert.rejects(request(id, friend), { code: 'forbidden', message: /its sender is on the screening list/ });
    hits.clear();
    await request(id, friend);
    hits.add(`${scene.network}:${friend}`);
    await beginReturns(scene);
    const { state, problem } = await unexpected(id);
    assert.deepEqual([state, problem], ['unclaimed', 'recipient_screened']);
    assert.deepEqual((await returnEvents(paymentId)).at(-1), 'unclaimed - recipient_screened');
    assert.ok((await scene.alerts()).includes(`return_failed ${id}`));
    // The list changes while it is on its way, and has no signature.
    hits.clear();
    await request(id, friend);
    await beginReturns(scene);
    hits.add(`${scene.network}:${friend}`);
    await beginOutgoing(scene, scene.connected);
    assert.equal((await unexpected(id)).state, 'unclaimed');
    assert.deepEqual(await scene.floats(), { operator: '10' });
    assert.deepEqual(await scene.differences(), []);
  });

  it('that cannot be received is unclaimed again, with its floats, and can go elsewhere', async () => {
    const { id, paymentId } = await paidLate(false);
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.fill(node, scene.merchantId, 990n);
    const [vault, friend] = [scene.payers.newAccount(), scene.payers.newAccount()];
    scene.control.setBlacklisted(vault, DOLLAR);
    await request(id, vault);
    await scene.live(node, 2);
    scene.pass(3_700_000);
    await scene.live(node, 3);
    assert.equal((await unexpected(id)).state, 'unclaimed');
    assert.deepEqual(await scene.floats(), { [scene.merchantId]: '990', operator: '10' });
    assert.match((await returnEvents(paymentId)).at(-1) ?? '', /^unclaimed - \w+/);
    await request(id, friend);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(friend, DOLLAR), 1_000n);
    assert.deepEqual(await scene.differences(), []);
  });

  describe('in a database that somebody else writes to', () => {
    it('is not sent to an account that was put into its request', async () => {
      const { id } = await paidLate(true);
      await scene.fill(node, OPERATOR_FLOAT, 10n);
      const thief = scene.payers.newAccount();
      await request(id, scene.payers.newAccount(), { coolingOffMs: HOUR_MS });
      for (const change of [`recipient = '${thief}'`, "send_after = '2020-01-01'"]) {
        await scene.db.sql.unsafe(`update strays set ${change} where id = '${id}'`);
      }
      await scene.live(node);
      assert.deepEqual(
        [(await unexpected(id)).state, (await unexpected(id)).problem],
        ['unclaimed', 'request_changed'],
      );
      assert.equal(scene.control.balanceOf(thief, DOLLAR), 0n);
    });

    it('is not sent if the books do not hold it', async () => {
      const { id } = await paidLate(true);
      const thief = scene.payers.newAccount();
      await scene.fill(node, OPERATOR_FLOAT, 1_000n);
      await scene.fill(node, scene.merchantId, 1_000n);
      await scene.db.sql`update strays set amount = 1500, fee = 0 where id = ${id}`;
      await request(id, thief);
      await scene.live(node);
      assert.equal(scene.control.balanceOf(thief, DOLLAR), 0n);
      const refusals = [`return_failed ${id}`, `outgoing_refused ${id}`];
      assert.ok(
        (await scene.alerts()).some((alert) => refusals.includes(alert)),
        'somebody is told',
      );
    });

    it('at a deposit address is not signed for more than has arrived', async () => {
      await scene.close();
      await open({ watching: { sweepFrom: () => 0n } });
      const { id } = await sentLate();
      const thief = scene.payers.newAccount();
      await scene.fill(node, OPERATOR_FLOAT, 1_000n);
      await scene.fill(node, scene.merchantId, 5_000n);
      await scene.db.sql`update strays set amount = 2000, fee = 20 where id = ${id}`;
      await request(id, thief);
      await scene.live(node);
      assert.equal(scene.control.balanceOf(thief, DOLLAR), 0n);
    });

    it('at a deposit address is not signed if its fee is more than that of all money there', async () => {
      await scene.close();
      await open({ watching: { sweepFrom: () => 0n } });
      const { id } = await sentLate();
      const thief = scene.payers.newAccount();
      await scene.fill(node, OPERATOR_FLOAT, 1_000n);
      await scene.fill(node, scene.merchantId, 1_000n);
      await request(id, thief);
      await scene.db.sql`update strays set fee = 11 where id = ${id}`;
      await scene.live(node);
      assert.equal(scene.control.balanceOf(thief, DOLLAR), 0n);
      assert.ok((await scene.alerts()).some((alert) => alert.startsWith('outgoing_refused')));
    });
  });

  it('keeps its request when the master secret is rotated', async () => {
    const { id } = await paidLate(true);
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await request(id, scene.payers.newAccount());
    const [old] = scene.rowKeys;
    const rowKeys = [new Uint8Array(32).fill(9), old] as const;
    const isTrusted = (each: UnexpectedMoney) => isOwnReturn({ rowKeys }, each);
    assert.equal(await command(scene, (tx, now) => renewReturnMacs(within(tx), { rowKeys }, { isTrusted, now })), 1);
    assert.ok(isOwnReturn({ rowKeys: [rowKeys[0]] }, await unexpected(id)));
  });

  it('was returned before a restore: it is neither sent again nor forgotten', async () => {
    const { id } = await paidLate(true);
    await scene.fill(node, OPERATOR_FLOAT, 20n);
    const [friend, other] = [scene.payers.newAccount(), scene.payers.newAccount()];
    await request(id, friend);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(friend, DOLLAR), 1_000n);
    await scene.forgetReturn(id);
    // The partner asks again, for another account, before anybody has rebuilt the database.
    await request(id, other);
    const report = await rebuild(scene, scene.connected, { from: 0 });
    assert.deepEqual([report?.rebuilt, report?.unplaced], [[id], []]);
    await scene.live(node);
    const { state } = await unexpected(id);
    assert.deepEqual([state, scene.control.balanceOf(other, DOLLAR)], ['returned', 0n]);
    assert.deepEqual(await scene.differences(), []);
  });

  it('was returned before a restore, and dust has joined its lot since: the returned part is found again', async () => {
    await scene.close();
    await open({ watching: { sweepFrom: () => 0n } });
    const { id: paymentId, send } = await scene.deposit();
    const cancelled = { type: 'cancelled', by: 'merchant' } as const;
    await scene.movePayment({ paymentId, event: cancelled, actor: 'test', evidence: {} });
    send(1_000n);
    await scene.live(node, 4);
    const { id } = await unexpectedOf(paymentId);
    await scene.fill(node, OPERATOR_FLOAT, 20n);
    await scene.fill(node, scene.merchantId, 2_000n);
    const friend = scene.payers.newAccount();
    await request(id, friend);
    await scene.live(node, 6);
    assert.equal(scene.control.balanceOf(friend, DOLLAR), 1_000n);
    await scene.forgetReturn(id);
    // The payment's money is computed again with the dust, so the unclaimed amount is larger than the returned one.
    send(330n);
    await scene.live(node, 4);
    assert.equal((await unexpected(id)).amount, '1330');
    const report = await rebuild(scene, scene.connected, { from: 0 });
    assert.deepEqual([report?.rebuilt, report?.unplaced], [[id], []]);
    const { state, amount, fee } = await unexpected(id);
    assert.deepEqual([state, amount, fee], ['returned', '1000', '9']);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(friend, DOLLAR), 1_000n);
    assert.deepEqual(await scene.differences(), []);
  });
});

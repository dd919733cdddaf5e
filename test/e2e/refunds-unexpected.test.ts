import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { returnFloat } from '../../src/actions/outgoing/float/return-float.ts';
import { returnUnexpected } from '../../src/actions/outgoing/return/return-unexpected.ts';
import { adoptAccount } from '../../src/actions/own-accounts.ts';
import { COLLECTORS } from '../../src/chains/evm/collectors.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { listUnexpected, type UnexpectedMoney } from '../../src/store/money/unexpected-money.ts';
import { DOLLAR, openRefundScene, type RefundScene, TETHER } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

const STATES = ['unclaimed', 'float', 'returning', 'returned'] as const;

describe('money outside of payments', () => {
  let scene: RefundScene;
  let node: TestNode;
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
    await scene.live(node, 1);
  });
  afterEach(() => scene.close());

  const unexpectedMoney = () => listUnexpected(scene.db.sql, { states: STATES, limit: 10 });
  const only = async (): Promise<UnexpectedMoney> => {
    const [unexpected, ...more] = await unexpectedMoney();
    assert.ok(unexpected);
    assert.deepEqual(more, []);
    return unexpected;
  };

  it('that reached the intermediate account is found, listed, and returned to its sender', async () => {
    const sender = scene.payers.newAccount();
    const hash = scene.transfer({ from: sender, units: 77n });
    await scene.live(node, 2);
    const unexpected = await only();
    assert.deepEqual([unexpected.transactionHash, unexpected.sender, unexpected.amount], [hash, sender, '77']);
    assert.deepEqual(await scene.alerts(), [`stray_money ${unexpected.account} ${unexpected.asset}`]);
    assert.match(
      (await scene.alertText('stray_money')) ?? '',
      /^\d+\.\d{2,} USDC on Till Sandbox came to 0x\w+ from 0x/,
    );
    assert.deepEqual(await scene.differences(), []);
    await returnUnexpected(scene, { id: unexpected.id, to: undefined, actor: 'test' });
    await assert.rejects(returnUnexpected(scene, { id: unexpected.id, to: undefined, actor: 'test' }), /returning/);
    await scene.live(node);
    assert.equal((await only()).state, 'returned');
    assert.equal(scene.control.balanceOf(sender, DOLLAR), 77n);
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('that reached a relayer is found, and the relayer signs for its return', async () => {
    const sender = scene.payers.newAccount();
    const [relayer] = scene.signers;
    scene.transfer({ from: sender, to: relayer?.address ?? '', units: 5n });
    await scene.live(node, 2);
    await returnUnexpected(scene, { id: (await only()).id, to: undefined, actor: 'test' });
    await scene.live(node);
    assert.equal((await only()).state, 'returned');
    assert.equal(scene.control.balanceOf(sender, DOLLAR), 5n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('that came for a payment after its end is recorded once, and given back whole', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    const late = await scene.accept({ isHeld: true });
    const failed = { type: 'failed', failureCode: null } as const;
    await scene.movePayment({ paymentId: late.id, event: failed, actor: 'test', evidence: {} });
    await scene.live(node, 3);
    const unexpected = (await unexpectedMoney()).find(({ source }) => source === 'late_payment');
    assert.deepEqual([unexpected?.paymentId, unexpected?.amount, unexpected?.fee], [late.id, '1000', '10']);
    assert.deepEqual(await scene.alerts(), [`paid_after_end ${late.id}`]);
    await returnUnexpected(scene, { id: unexpected?.id ?? '', to: undefined, actor: 'test' });
    await scene.live(node);
    assert.equal(scene.control.balanceOf(late.payer.address, DOLLAR), 1_000n);
    assert.deepEqual(await scene.floats(), { operator: '0' });
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('that went to the merchant too late comes out of the merchant’s float, or nothing moves', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    const late = await scene.accept();
    const failed = { type: 'failed', failureCode: null } as const;
    await scene.movePayment({ paymentId: late.id, event: failed, actor: 'test', evidence: {} });
    await scene.live(node, 3);
    const id = (await unexpectedMoney()).find(({ source }) => source === 'late_payment')?.id ?? '';
    await assert.rejects(
      returnUnexpected(scene, { id, to: undefined, actor: 'test' }),
      /too little to return it: the float of mrch_test lacks 0\.00099 USDC\./,
    );
    assert.deepEqual(await scene.floats(), { operator: '10' });
    await scene.fill(node, scene.merchantId, 990n);
    await returnUnexpected(scene, { id, to: undefined, actor: 'test' });
    await scene.live(node);
    assert.equal(scene.control.balanceOf(late.payer.address, DOLLAR), 1_000n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('becomes a float once: found before or not, and never with another owner’s transfer', async () => {
    const from = scene.payers.newAccount();
    const hash = scene.transfer({ from, units: 40n });
    await scene.live(node, 2);
    assert.equal((await only()).state, 'unclaimed');
    const input = { owner: OPERATOR_FLOAT, asset: DOLLAR, transactionHash: hash, actor: 'test' };
    assert.equal(await addFloat(scene, input), 40n);
    assert.equal((await only()).state, 'float');
    assert.deepEqual(await scene.differences(), []);
    await assert.rejects(addFloat(scene, input), /before/);
    await assert.rejects(addFloat(scene, { ...input, asset: TETHER }), /transfers nothing of that asset/);
    await assert.rejects(addFloat(scene, { ...input, transactionHash: `0x${'ab'.repeat(32)}` }), /no such transaction/);
    await assert.rejects(addFloat(scene, { ...input, owner: 'mrch_nobody' }), /mrch_nobody/);
    const elsewhere = scene.transfer({ from, to: scene.payers.newAccount(), units: 40n });
    await assert.rejects(
      addFloat(scene, { ...input, transactionHash: elsewhere }),
      /transfers nothing|belongs to payments/,
    );
    const payment = await scene.paid(node, { isHeld: true });
    const { transactionHash } = await scene.payment(payment.id);
    await assert.rejects(
      addFloat(scene, { ...input, transactionHash: transactionHash ?? '' }),
      /transfers nothing|belongs to payments/,
    );
    assert.deepEqual(await scene.floats(), { operator: '40' });
  });

  it('that lay there before the books began becomes a float if it still does', async () => {
    for (const isThere of [true, false]) {
      const fresh = await openRefundScene();
      try {
        const transactionHash = fresh.transfer({ from: fresh.payers.newAccount(), units: 40n });
        if (!isThere) fresh.control.setBalance(fresh.intermediate, DOLLAR, 15n);
        // The first reading begins some blocks below the head.
        fresh.control.mine(40);
        await fresh.live(await fresh.newNode(), 2);
        const input = { owner: OPERATOR_FLOAT, asset: DOLLAR, transactionHash, actor: 'test' };
        if (isThere) {
          assert.equal(await addFloat(fresh, input), 40n);
          assert.deepEqual(await fresh.differences(), []);
        } else {
          await assert.rejects(addFloat(fresh, input), /15 of it more than the books say/);
          assert.deepEqual(await fresh.floats(), {});
        }
      } finally {
        await fresh.close();
      }
    }
  });

  it('is not a float before it is deep enough', async () => {
    const deep = await openRefundScene({ depth: 3 });
    try {
      const reader = await deep.newNode();
      const transactionHash = deep.transfer({ from: deep.payers.newAccount(), units: 40n });
      const input = { owner: OPERATOR_FLOAT, asset: DOLLAR, transactionHash, actor: 'test' };
      await assert.rejects(addFloat(deep, input), /deep enough/);
      deep.control.mine(2);
      await assert.rejects(addFloat(deep, input), /has not read the block/);
      await reader.turn();
      assert.equal(await addFloat(deep, input), 40n);
    } finally {
      await deep.close();
    }
  });

  it('goes to no place of ours, neither from a float nor as a return: it would be gone, or come back as the money of others', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 100n);
    scene.transfer({ from: scene.payers.newAccount(), units: 30n });
    await scene.live(node, 3);
    const [stray] = await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 });
    const former = scene.payers.newAccount();
    scene.pass(1_000);
    await adoptAccount(scene, { network: scene.network, address: former, actor: 'test' });
    scene.pass(1_000);
    await adoptAccount(scene, { network: scene.network, address: scene.intermediate, actor: 'test' });
    const { address } = await scene.deposit();
    const places = [
      scene.intermediate,
      former,
      address,
      scene.signers[0]?.address,
      COLLECTORS.at(-1)?.address,
      DOLLAR.split(':').at(-1),
    ];
    for (const recipient of places as string[]) {
      const input = { owner: OPERATOR_FLOAT, asset: DOLLAR, units: 10n, recipient, actor: 'test' };
      await assert.rejects(returnFloat(scene, input), /must not be/, recipient);
      const to = { chainId: scene.network, address: recipient };
      await assert.rejects(returnUnexpected(scene, { id: stray?.id ?? '', to, actor: 'test' }), /must not be/);
    }
    assert.deepEqual(await scene.floats(), { [OPERATOR_FLOAT]: '100' });
    assert.equal((await scene.db.sql`select from outgoing`).length, 0);
  });

  it('that is a float can be returned, and is a float again when it does not arrive', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 100n);
    const recipient = scene.payers.newAccount();
    const input = { owner: OPERATOR_FLOAT, asset: DOLLAR, units: 60n, recipient, actor: 'test' };
    await assert.rejects(returnFloat(scene, { ...input, units: 101n }), /less than that/);
    await returnFloat(scene, input);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(recipient, DOLLAR), 60n);
    assert.deepEqual(await scene.floats(), { operator: '40' });
    scene.control.setBlacklisted(recipient, DOLLAR);
    await returnFloat(scene, { ...input, units: 40n });
    assert.deepEqual(await scene.floats(), { operator: '0' });
    await scene.live(node, 2);
    scene.pass(3_700_000);
    await scene.live(node, 2);
    assert.deepEqual(await scene.floats(), { operator: '40' });
    assert.deepEqual(await scene.differences(), []);
  });
});

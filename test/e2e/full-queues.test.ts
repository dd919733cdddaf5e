import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { command, commandOfOne } from '../../src/actions/command.ts';
import { coverRefunds } from '../../src/actions/outgoing/refund/cover-refunds.ts';
import { createCoolOff } from '../../src/actions/parties/cool-off-destinations.ts';
import { putDestinations } from '../../src/actions/parties/destination-rows.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { findDueItems, postponeItems } from '../../src/store/chain/due-items.ts';
import { claimMails } from '../../src/store/mail/mails.ts';
import { findFeesToReturn, findOutgoing, postponeFeeReturn } from '../../src/store/money/outgoing.ts';
import { DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

/**
 * A round looks at the first rows of its queue. Each test fills the rounds with older rows that cannot go on, and lets them be due
 * again in each round: the honest row behind them has its turn all the same.
 */
describe('a queue full of rows that cannot go on', () => {
  let scene: RefundScene;
  let node: TestNode;
  beforeEach(async () => {
    scene = await openRefundScene({ watching: { sweepFrom: () => 0n, mostPerRound: 2 } });
    node = await scene.newNode();
  });
  afterEach(() => scene.close());

  const copied = (n: string) => `'0x' || lpad(${n}::text, 64, '0')`;

  it('delays no refund: those whose money is not there are looked at in turn', async () => {
    const { id } = await scene.paid(node);
    await scene.request(id);
    const { id: refundId } = await scene.refund(id);
    // More refunds than a round looks at, of payments whose money a reorganisation has removed.
    await scene.db.sql`
      insert into payments select (jsonb_populate_record(p, jsonb_build_object('id', 'pay_' || lpad(n::text, 26, '0')))).*
      from payments p, generate_series(1, 45) n where p.id = ${id}`;
    await scene.db.sql`
      insert into refunds select (jsonb_populate_record(r, jsonb_build_object(
        'id', 'refund_' || n || '_' || part, 'payment_id', 'pay_' || lpad(n::text, 26, '0'), 'state', 'requested',
        'number', part, 'requested_at', 'epoch'::timestamptz))).*
      from refunds r, generate_series(1, 45) n, generate_series(1, 10) part where r.id = ${refundId}`;
    await scene.fill(node, OPERATOR_FLOAT, 1_000n);
    await scene.fill(node, scene.merchantId, 1_000n);
    for (let round = 0; round < 3; round += 1) {
      await coverRefunds(scene);
      scene.pass(61_000);
    }
    assert.equal((await scene.refund(id)).state, 'sending');
    const [waiting] = await scene.db.sql`
      select count(*)::int as count from refunds where id like 'refund\\_%' and waits_for = 'arrival'`;
    assert.equal(waiting?.count, 450);
  });

  it('delays the end of no transfer: items that cannot be judged are judged in turn', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.register(scene.payers.newAccount());
    await scene.payOut();
    const payoutId = await scene.payoutIdOf(id);
    const attempt = (await findOutgoing(scene.db.sql, payoutId))?.commitment;
    assert.ok(attempt);
    await scene.db.sql.unsafe(`
      insert into items select (jsonb_populate_record(i, jsonb_build_object(
        'commitment', ${copied('n')}, 'asset', 'no asset', 'subject', 'pout_' || n))).*
      from items i, generate_series(1, 5) n where i.commitment = '${attempt}'`);
    await command(scene, (tx) =>
      tx.unsafe(`alter table items add constraint unlucky check (asset <> 'no asset' or state = 'due')`),
    );
    scene.pass(24 * 3_600_000);
    scene.control.mine(6);
    for (let round = 0; round < 6; round += 1) {
      scene.control.mine();
      await node.watch();
    }
    assert.notEqual((await findOutgoing(scene.db.sql, payoutId))?.commitment, attempt, 'the attempt is over');
    const left = await scene.db.sql`select from items where asset = 'no asset' and state = 'due'`;
    assert.equal(left.length, 5);
  });

  it('delays no item that can be sent: refused items of other payers go behind it', async () => {
    const { key } = await scene.accept();
    await scene.db.sql.unsafe(`
      insert into items select (jsonb_populate_record(i, jsonb_build_object('commitment', ${copied('n')},
        'payer', '0x' || lpad(n::text, 40, '0'), 'accepted_at', 'epoch'::timestamptz))).*
      from items i, generate_series(1, 5) n where i.commitment = '${key}'`);
    const [signer] = scene.signers;
    const due = () =>
      findDueItems(scene.db.sql, {
        ...{ network: scene.network, signer: signer?.address ?? '', share: { index: 0, of: 1 } },
        ...{
          now: new Date(scene.nowMs()),
          deadlineAfter: new Date(scene.nowMs()),
          sharedBefore: new Date(scene.nowMs()),
        },
        ...{ limits: { failures: 3, work: undefined }, isolatedEach: 2, limit: 2 },
      });
    const seen: string[] = [];
    for (let round = 0; round < 4 && !seen.includes(key); round += 1) {
      const items = await due();
      seen.push(...items.map((item) => item.key));
      const retryAt = new Date(scene.nowMs() + 1_000);
      const refused = items.filter((item) => item.key !== key);
      await command(scene, (tx) =>
        postponeItems(
          tx,
          refused.map((item) => ({ key: item.key, refusal: 'short_balance', retryAt })),
        ),
      );
      scene.pass(2_000);
    }
    assert.ok(seen.includes(key), seen.join('\n'));
  });

  it('delays the end of no transaction: nonces of a relayer that are never mined take turns with those of others', async () => {
    await scene.db.sql`
      insert into relay_sends (network, signer, slot, kind, fencing, created_at, state)
      select ${scene.network}, '0x0000000000000000000000000000000000000000', n, 'batch', 0, 'epoch', 'open'
      from generate_series(1, 600) n`;
    const { id } = await scene.accept();
    await scene.live(node, 4);
    assert.equal(await scene.status(id), 'succeeded');
    const open = await scene.db
      .sql`select from relay_sends where state = 'open' and signer <> '0x0000000000000000000000000000000000000000'`;
    assert.equal(open.length, 0);
  });

  it('delays no change of a destination: changes that nobody ordered take turns with others', async () => {
    const [before, after] = [scene.payers.newAccount(), scene.payers.newAccount()];
    const account = (address: string) => `${scene.network}:${address}`;
    await scene.register(before);
    await scene.db.sql`
      insert into crypto_settlements select (jsonb_populate_record(c, jsonb_build_object(
        'id', 'crypto_forged' || n, 'asset_key', 'asset ' || n, 'pending_destination', ${account(after)}::text,
        'effective_at', 'epoch'::timestamptz))).*
      from crypto_settlements c, generate_series(1, 250) n`;
    await command(scene, (tx, now) =>
      putDestinations(tx, scene, [
        {
          id: 'crypto_cooled',
          merchantId: scene.merchantId,
          asset: DOLLAR,
          assetKey: 'another spelling',
          destination: account(before),
          pendingDestination: account(after),
          effectiveAt: now,
          heldFrom: now,
          createdAt: now,
        },
      ]),
    );
    const run = createCoolOff(scene);
    for (let round = 0; round < 4; round += 1) await run();
    const changed = await scene.db.sql`select id from crypto_settlements where destination = ${account(after)}`;
    assert.deepEqual([...changed], [{ id: 'crypto_cooled' }]);
  });

  it('delays no mail: mails that are not sent are tried again behind the others', async () => {
    await scene.db.sql`
      insert into mails (id, kind, recipient, language, subject, key, content, created_at, until, due_at)
      select 'mail_' || n, 'receipt', 'fox@example.com', 'en', 'payment', 'key ' || n, '{}', 'epoch', 'infinity',
        'epoch'::timestamptz + n * interval '1 second'
      from generate_series(1, 6) n`;
    const seen = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      const until = new Date(scene.nowMs() + 60_000);
      const claimed = await commandOfOne(scene, (now) => claimMails({ limit: 2, now, until }));
      for (const { id } of claimed) seen.add(id);
      scene.pass(61_000);
    }
    assert.equal(seen.size, 6);
  });

  it('delays the return of no fee: fees that cannot be returned go behind the others', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.register(scene.payers.newAccount());
    await scene.live(node);
    await scene.fill(node, OPERATOR_FLOAT, 100n);
    await scene.db.sql`
      insert into outgoing select (jsonb_populate_record(o, jsonb_build_object(
        'id', 'fee_' || n, 'commitment', null, 'fee_return', 10, 'created_at', 'epoch'::timestamptz + n * interval '1 second'))).*
      from outgoing o, generate_series(1, 6) n where o.id = ${await scene.payoutIdOf(id)}`;
    const seen: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const found = await findFeesToReturn(scene.db.sql, { now: new Date(scene.nowMs()), limit: 2 });
      seen.push(...found);
      const retryAt = new Date(scene.nowMs() + 60_000);
      for (const fee of found) await command(scene, (tx) => postponeFeeReturn(tx, { id: fee, retryAt }));
      scene.pass(61_000);
    }
    assert.ok(seen.includes('fee_6'), seen.join('\n'));
  });
});

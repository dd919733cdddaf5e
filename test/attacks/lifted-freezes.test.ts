import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import { adoptFreezes, createFreezeCheck, shareFreezes } from '../../src/actions/parties/freeze-heads.ts';
import type { FreezeScope } from '../../src/domain/freeze.ts';
import { connectTo, type TestConnection } from '../database.ts';
import { openPayingShop, type PayingShop, result, USDC } from '../e2e/paying-shop.ts';
import { DOLLAR, openRefundScene, type RefundScene } from '../e2e/refund-scene.ts';
import type { TestNode } from '../e2e/relay-scene.ts';
import { until } from '../until.ts';

const BY = { reason: 'case 42', actor: 'operator' };
const STOPPED = { code: 'internal_error', status: 503 };

describe('an attacker who changes freezes in the database', () => {
  let scene: RefundScene;
  let node: TestNode;
  let sql: TestConnection;
  let destination: string;
  let check: () => Promise<boolean>;
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
    sql = connectTo(scene.databaseUrl);
    destination = scene.payers.newAccount();
    check = createFreezeCheck(scene);
    await adoptFreezes(scene);
  });
  afterEach(async () => {
    await sql.end();
    await scene.close();
  });

  const set = (scope: FreezeScope, subject = '') => freeze(scene, { scope, subject, ...BY });
  const lift = (scope: FreezeScope, subject = '') => unfreeze(scene, { scope, subject, ...BY });
  const received = () => scene.control.balanceOf(destination, DOLLAR);
  const alertText = async () => {
    await check();
    return scene.alertText('freezes_changed');
  };
  /** A held amount that would be paid out at once. */
  async function held(): Promise<void> {
    await scene.paid(node, { isHeld: true });
    await scene.register(destination);
  }

  for (const [scope, name, change] of [
    ['merchant', 'by deleting its row', () => sql`delete from freezes`],
    ['merchant', 'by naming another merchant', () => sql`update freezes set subject = 'mrch_other'`],
    ['merchant', 'by another scope', () => sql`update freezes set scope = 'partner'`],
    ['merchant', 'by emptying the table', () => sql`truncate freezes`],
    ['network', 'by deleting its row', () => sql`delete from freezes`],
    ['payouts', 'by deleting its row', () => sql`delete from freezes`],
  ] as const) {
    it(`does not lift the freeze of a ${scope} ${name}: no money moves, with an alert, until an operator decides`, async () => {
      await held();
      const subject = { merchant: scene.merchantId, network: scene.network, payouts: '' }[scope];
      await set(scope, subject);
      assert.equal(await alertText(), undefined);
      await change();
      await assert.rejects(scene.live(node), STOPPED);
      assert.equal(received(), 0n);
      assert.match((await alertText()) ?? '', new RegExp(`Deleted: ${scope} ?${subject}\\.`));

      assert.deepEqual(await set(scope, subject), { isNew: true });
      await scene.live(node);
      assert.equal(received(), 0n, 'frozen again');
      await sql`delete from freezes`;
      await lift(scope, subject);
      await scene.live(node);
      assert.equal(received(), 990n);
      assert.equal(await alertText(), undefined);
    });
  }

  it('has no accepted signature sent', async () => {
    const { id } = await scene.accept();
    await set('merchant', scene.merchantId);
    await sql`delete from freezes`;
    await assert.rejects(node.turn(3), STOPPED);
    assert.equal((await scene.versions()).length, 0);
    await lift('merchant', scene.merchantId);
    await node.turn(3);
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('does not lift a freeze with an older head, which cannot replace the newest', async () => {
    await held();
    const [empty] = await sql`select number, freezes, mac from freeze_heads`;
    await set('merchant', scene.merchantId);
    await sql`delete from freezes`;
    for (const statement of [
      'delete from freeze_heads',
      'update freeze_heads set number = 9',
      'truncate freeze_heads',
    ]) {
      await assert.rejects(sql.unsafe(statement), /are never changed/, statement);
    }
    await sql`insert into freeze_heads (number, freezes, mac) values (99, '{}', ${empty?.mac})`;
    await assert.rejects(scene.live(node), STOPPED);
    assert.equal(received(), 0n);
    await lift('merchant', scene.merchantId);
    await scene.live(node);
    assert.equal(received(), 990n, 'a head of the gateway comes after the forged one');
  });

  it('stops no money by a head of its own', async () => {
    await held();
    await sql`insert into freeze_heads (number, freezes, mac) values (99, '{payouts}', 'forged')`;
    await scene.live(node);
    assert.equal(received(), 990n);
  });

  it('adds a freeze, which stops money with an alert until an operator lifts it', async () => {
    await held();
    await sql`insert into freezes (scope, subject, reason, actor, since) values ('payouts', '', 'x', 'x', now())`;
    await scene.live(node);
    assert.equal(received(), 0n);
    assert.match((await alertText()) ?? '', /Added: payouts\./);
    await lift('payouts');
    await scene.live(node);
    assert.equal(received(), 990n);
    assert.equal(await alertText(), undefined);
  });

  it('waits with a deletion for transactions that accept or send money', async () => {
    await set('payouts');
    const { promise: go, resolve } = Promise.withResolvers<void>();
    const { promise: shared, resolve: isShared } = Promise.withResolvers<void>();
    const sending = command(scene, async (tx) => {
      await shareFreezes(tx, scene);
      isShared();
      await go;
      return tx`select from freezes`;
    });
    await shared;
    const deletion = Promise.resolve(sql`delete from freezes`);
    await until('the deletion waits for a lock', async () => {
      const rows = await scene.db.sql`
        select from pg_locks where relation = 'freezes'::regclass and mode = 'ExclusiveLock' and not granted`;
      return rows.length === 1;
    });
    resolve();
    assert.equal((await sending).length, 1);
    await deletion;
  });

  it('is not believed at a later start: freezes of an older version are taken over once', async () => {
    await set('payouts');
    await sql`delete from freezes`;
    await adoptFreezes(scene);
    await assert.rejects(
      command(scene, (tx) => shareFreezes(tx, scene)),
      STOPPED,
    );
  });
});

describe('a payer of a merchant whose freeze was deleted in the database', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop();
  });
  after(() => paying.gateway.stop());

  it('is asked to come back later, and the signature is not accepted', async () => {
    const { gateway, shop, wallet } = paying;
    const payer = paying.newPayer({ [USDC]: 10_000_000n });
    const id = await paying.created();
    const option = await wallet.option(id, payer.account, USDC);
    const signature = await payer.sign(option);
    const merchant = { scope: 'merchant', subject: shop.merchant.id, ...BY } as const;
    await freeze(gateway, merchant);
    const sql = connectTo(gateway.databaseUrl);
    await sql`delete from freezes`;
    await sql.end();
    const confirm = () => wallet.confirm(id, option.id, [result(signature)]);
    const refused = await confirm();
    assert.deepEqual([refused.statusCode, refused.json().code], [503, 'internal_error']);
    assert.equal(refused.headers['retry-after'], '60');
    await unfreeze(gateway, merchant);
    assert.equal((await confirm()).statusCode, 200);
  });
});

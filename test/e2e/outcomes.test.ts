import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SANDBOX_ACCOUNTS } from '../../src/sandbox/genesis.ts';
import { createRehearsal, OUTCOMES } from '../../src/sandbox/rehearsal.ts';
import { type StageDeps, stageOutcomes } from '../../src/sandbox/stage-outcomes.ts';
import { findOpenRehearsals } from '../../src/store/payments/rehearsals.ts';
import { ETH, EURC, openPayingShop, type PayingShop, refusal, result, USDC, USDT } from './paying-shop.ts';
import { happen, ORDER, openShop } from './shop.ts';

const ALL = { [USDC]: 10n ** 12n, [EURC]: 10n ** 12n, [USDT]: 10n ** 12n, [ETH]: 10n ** 21n };
const asking = (sandbox: string) => ({ metadata: { sandbox, table: '4' } });

describe('an outcome that a payment of a sandbox asks for', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop({ rehearse: createRehearsal });
  });
  after(() => paying.gateway.stop());

  const unitsOf = (options: readonly { amount: { unit: string } }[]) => options.map(({ amount }) => amount.unit).sort();
  const units = (...assets: string[]) => assets.map((asset) => `caip19/${asset}`).sort();

  /** A payer signs in this asset and confirms. */
  async function confirmed(id: string, asset: string) {
    const payer = paying.newPayer(ALL);
    const option = await paying.wallet.option(id, payer.account, asset);
    const answer = await paying.wallet.confirm(id, option.id, [result(await payer.sign(option))]);
    assert.equal(answer.statusCode, 200, answer.body);
    const [item] = await paying.items(id);
    assert.ok(item);
    return item;
  }

  function stage(parts: { paySecond?: StageDeps['paySecond']; control?: Partial<StageDeps['control']> } = {}) {
    const { paySecond = async () => {} } = parts;
    const control = { moveAhead: async () => true, replaceBlocks: async () => true, ...parts.control };
    return stageOutcomes({ ...paying.gateway, control, paySecond });
  }

  it('must be a known one', async () => {
    const wrong = await paying.shop.create({ ...ORDER, ...asking('explode') });
    const { code, issues } = wrong.json();
    assert.deepEqual([wrong.statusCode, code, issues.length], [400, 'params_validation', 1]);
    assert.equal(issues[0].field, 'metadata.sandbox');
    for (const outcome of Object.keys(OUTCOMES)) assert.match(issues[0].message, new RegExp(`\\b${outcome}\\b`));
    for (const name of ['', 'WAIT', 'constructor', '__proto__']) {
      assert.equal((await paying.shop.create({ ...ORDER, ...asking(name) })).statusCode, 400, name);
    }
    const fine = await paying.shop.details(await paying.created(asking('wait')));
    assert.deepEqual(fine.json().metadata, { sandbox: 'wait', table: '4' });
  });

  it('waits: the signature is accepted, and sent a minute later', async () => {
    const id = await paying.created(asking('wait'));
    const payer = paying.newPayer(ALL);
    assert.deepEqual(unitsOf(await paying.wallet.listed(id, [payer.account])), units(USDC, EURC, USDT));
    const item = await confirmed(id, USDC);
    const [row] = await paying.gateway.db.sql<{ retry_at: Date }[]>`
      select retry_at from items where commitment = ${item.commitment}`;
    assert.equal(row?.retry_at.getTime(), paying.time.clock.nowMs() + 60_000);
    assert.equal((await paying.payment(id)).status, 'processing');
    const plain = await confirmed(await paying.created(), USDC);
    const [other] = await paying.gateway.db.sql<{ retry_at: Date | null }[]>`
      select retry_at from items where commitment = ${plain.commitment}`;
    assert.equal(other?.retry_at, null, 'other payments do not wait');
  });

  it('fails: screening declines it while it is processing', async () => {
    const id = await paying.created(asking('fail'));
    await confirmed(id, EURC);
    assert.equal((await paying.payment(id)).status, 'processing');
    await stage();
    const { status, failureCode } = (await paying.shop.details(id)).json();
    assert.deepEqual([status, failureCode], ['failed', 'declined_user']);
    assert.deepEqual(await findOpenRehearsals(paying.gateway.db.sql, 10), []);
  });

  it('is reorganised: after a crash the same block is named again', async () => {
    const id = await paying.created(asking('reorg'));
    await confirmed(id, USDC);
    await happen(paying.gateway, id, 'succeeded');
    const { sql } = paying.gateway.db;
    const block = { number: 7, hash: `0x${'ab'.repeat(32)}` };
    await sql`update rehearsals set block = ${JSON.stringify(block)}::jsonb where payment_id = ${id}`;
    const asked: unknown[] = [];
    const replaceBlocks = async (each: object) => {
      asked.push(each);
      if (asked.length === 1) throw new Error('The chain went away.');
      return true;
    };
    await stage({ control: { replaceBlocks } });
    assert.equal((await findOpenRehearsals(sql, 10)).length, 1, 'it is not over');
    await stage({ control: { replaceBlocks } });
    await stage({ control: { replaceBlocks } });
    assert.deepEqual(asked, [block, block]);
  });

  it('is declined by screening before anything is offered', async () => {
    const id = await paying.created(asking('screened'));
    const payer = paying.newPayer(ALL);
    assert.deepEqual(await refusal(paying.wallet.options(id, [payer.account])), [400, 'sanctioned_user']);
    assert.equal((await paying.wallet.options(await paying.created(), [payer.account])).statusCode, 200);
  });

  it('is paid late: the shop cancels when the payer has the transaction', async () => {
    const id = await paying.created(asking('late'));
    const payer = paying.newPayer(ALL);
    const options = await paying.wallet.listed(id, [payer.account]);
    assert.deepEqual(unitsOf(options), units(ETH));
    const fetched = await paying.wallet.fetch(id, options[0]?.id ?? '');
    assert.equal(fetched.statusCode, 200, fetched.body);
    assert.equal((await paying.payment(id)).status, 'cancelled');
    const [action] = fetched.json().actions;
    const hash = await payer.carryOut(action.data);
    const answer = await paying.wallet.confirm(id, options[0]?.id ?? '', [result(hash)]);
    assert.deepEqual([answer.statusCode, answer.json().status], [200, 'cancelled']);
  });

  it('is paid twice: a second wallet has its transaction ready before the first one is accepted', async () => {
    const id = await paying.created(asking('double'));
    paying.network().control.setBalance(SANDBOX_ACCOUNTS.secondPayer, ETH, 10n ** 21n);
    await confirmed(id, USDC);
    const items = await paying.items(id);
    assert.deepEqual(
      items.map(({ payer, state, method }) => [payer === SANDBOX_ACCOUNTS.secondPayer, state, method]).sort(),
      [
        [false, 'due', 'eip3009-vrs'],
        [true, 'offered', 'native'],
      ],
    );
    const coin = await paying.created(asking('double'));
    const payer = paying.newPayer(ALL);
    const option = await paying.wallet.option(coin, payer.account, ETH);
    assert.equal((await paying.wallet.fetch(coin, option.id)).statusCode, 200);
    assert.equal((await paying.items(coin)).length, 2, 'a payer in coin may pay without a confirmation');
    const sent: unknown[] = [];
    await stage({ paySecond: async (request) => void sent.push(request) });
    assert.deepEqual(sent, [], 'it waits until the first has paid');
  });

  it('needs Permit2', async () => {
    const id = await paying.created(asking('permit2'));
    const options = await paying.wallet.listed(id, [paying.newPayer(ALL).account]);
    assert.deepEqual(unitsOf(options), units(USDT));
  });

  it('is not asked for by live payments, nor outside a sandbox: there metadata is data', async () => {
    const live = await openShop(paying.gateway, { mode: 'live' });
    assert.equal((await live.create({ ...ORDER, ...asking('explode') })).statusCode, 201);
    const plain = await openPayingShop();
    try {
      const id = await plain.created(asking('explode'));
      const screened = await plain.created(asking('screened'));
      const payer = plain.newPayer(ALL);
      for (const each of [id, screened]) {
        assert.deepEqual(unitsOf(await plain.wallet.listed(each, [payer.account])), units(USDC, EURC, USDT, ETH));
      }
    } finally {
      await plain.gateway.stop();
    }
  });
});

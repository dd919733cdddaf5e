import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { command } from '../../src/actions/command.ts';
import { headerText, type Requirement } from '../../src/domain/x402.ts';
import { shiftClock } from '../../src/runtime/shifted-clock.ts';
import { listPlacesOf, putDepositCursor } from '../../src/store/chain/deposit-places.ts';
import { findUnderWay } from '../../src/store/chain/due-items.ts';
import { putMovements } from '../../src/store/chain/movements.ts';
import { startTestGateway, type TestGateway } from '../gateway.ts';
import { IS_LONG } from '../long.ts';
import { until } from '../until.ts';
import {
  BASE_SEPOLIA,
  BASE_SEPOLIA_USDC,
  EURC,
  openPayingShop,
  type PayingShop,
  refusal,
  SANDBOX,
  USDC,
  USDT,
} from './paying-shop.ts';
import { type X402Changes, x402Header } from './x402-header.ts';

const AMOUNT = 10_000_000n;
/** Requests are held for some of these. */
const STEP_MS = 4_000;
/** How often a stranger repeats an act. */
const TIMES = IS_LONG ? 1_000 : 40;
const AT_ONCE = IS_LONG ? 250 : 40;

describe('GET /x402/{paymentId}', () => {
  let paying: PayingShop;
  before(async () => {
    const depositMinimum = { everywhere: undefined, on: new Map([[SANDBOX, 0n]]) };
    paying = await openPayingShop({ config: { depositMinimum } });
  });
  after(() => paying.gateway.stop());

  let keys = 0;
  function newAgent(units = AMOUNT, asset = USDC): PrivateKeyAccount {
    keys += 1;
    const account = privateKeyToAccount(`0x${keys.toString(16).padStart(64, 'a')}`);
    paying.network().control.setBalance(account.address, asset, units);
    return account;
  }

  const get = (id: string, headers: Readonly<Record<string, string>> = {}) =>
    paying.gateway.call({ method: 'GET', url: `/x402/${id}`, headers });

  async function ask(id: string): Promise<Requirement> {
    const answer = await get(id);
    assert.equal(answer.statusCode, 402, answer.body);
    return answer.json().accepts[0];
  }

  const header = (agent: PrivateKeyAccount, accepted: Requirement, changes: X402Changes = {}): Promise<string> =>
    x402Header(agent, accepted, { nowMs: paying.time.clock.nowMs(), ...changes });

  const pay = (id: string, text: string) => get(id, { 'payment-signature': text });

  /** An answer that is held until its time is over. */
  async function overdue(answer: ReturnType<typeof get>) {
    let isAnswered = false;
    void answer.finally(() => {
      isAnswered = true;
    });
    await until('it is answered', async () => {
      if (!isAnswered) await paying.time.advance(STEP_MS);
      return isAnswered;
    });
    return answer;
  }

  /** The error of a payment that is asked for again. */
  async function misfit(id: string, text: string, answered = pay(id, text)): Promise<string> {
    const answer = await answered;
    assert.equal(answer.statusCode, 402, answer.body);
    const { error } = answer.json();
    assert.equal((await paying.payment(id)).status, 'requires_action');
    return error;
  }

  it('shows clients that the clock of the sandbox is ahead of theirs, by which their authorizations have ended', async () => {
    const clock = shiftClock(paying.time.clock, () => 120_000);
    const { databaseUrl } = paying.gateway;
    const ahead = await startTestGateway({ ...paying.wiring, world: { clock }, databaseUrl });
    const id = await paying.created({ expiresAt: paying.time.clock.nowMs() / 1000 + 900 });
    const errorOn = async (on: TestGateway) => (await on.call({ url: `/x402/${id}` })).json().error;
    assert.match(await errorOn(ahead), /The clock of this sandbox is 120 s ahead of real time/);
    assert.doesNotMatch(await errorOn(paying.gateway), /ahead of real time/);
    await ahead.stop();
  });

  it('asks for every token at par that takes authorizations, to the deposit address', async () => {
    const id = await paying.created();
    const answer = await get(id);
    assert.equal(answer.statusCode, 402);
    const required = answer.json();
    assert.deepEqual(
      JSON.parse(Buffer.from(String(answer.headers['payment-required']), 'base64').toString()),
      required,
    );
    assert.equal(required.x402Version, 2);
    assert.match(required.resource.url, new RegExp(`/x402/${id}$`));
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    const { address } = (await paying.wallet.post(id, 'address', { asset: USDC })).json();
    assert.deepEqual(required.accepts, [
      {
        scheme: 'exact',
        network: SANDBOX,
        amount: AMOUNT.toString(),
        asset: USDC.split(':').at(-1),
        payTo: address.split(':').at(-1),
        maxTimeoutSeconds: 150,
        extra: { name: 'USD Coin', version: '2', paymentId: id },
      },
    ]);
    assert.deepEqual((await get(id)).json(), required);
    const euros = await ask(await paying.created({ amount: { unit: 'iso4217/EUR', value: '1000' } }));
    assert.equal(euros.asset, EURC.split(':').at(-1));
  });

  it('leaves out a token whose address cannot be shown, and asks for the others', async (t) => {
    const minimums = new Map([SANDBOX, BASE_SEPOLIA].map((network) => [network, 0n]));
    const config = { depositMinimum: { everywhere: undefined, on: minimums } };
    const both = await openPayingShop({ config, chainIds: [SANDBOX, BASE_SEPOLIA] });
    t.after(() => both.gateway.stop());
    const id = await both.created();
    const answer = () => both.gateway.call({ url: `/x402/${id}` });
    const tokens = async () => (await answer()).json().accepts.map(({ asset }: Requirement) => asset);
    const all = [USDC, BASE_SEPOLIA_USDC].map((asset) => asset.split(':').at(-1));
    assert.deepEqual(await tokens(), all);
    const forge = (asset: string) =>
      command(
        both.gateway,
        (tx) => tx`update deposits set mac = 'forged' where payment_id = ${id} and asset = ${asset}`,
      );
    await forge(USDC);
    assert.deepEqual(await tokens(), all.slice(1));
    await forge(BASE_SEPOLIA_USDC);
    assert.equal((await answer()).statusCode, 500, 'no way to pay is left, for a fault of ours');
  });

  it('stores a good authorization before anything is sent, and never asks for another', async () => {
    const id = await paying.created();
    const agent = newAgent();
    const accepted = await ask(id);
    const text = await header(agent, accepted);
    const answer = await overdue(pay(id, text));
    assert.deepEqual([answer.statusCode, answer.json().status], [503, 'processing']);
    assert.ok(Number(answer.headers['retry-after']) >= 1);
    const items = await paying.items(id);
    assert.deepEqual(items.map(({ method, state, payer }) => [method, state, payer === agent.address]).sort(), [
      ['deposit', 'offered', false],
      ['deposit-vrs', 'due', true],
    ]);
    // The same again, another one, and none: come back.
    const other = await header(newAgent(), accepted);
    for (const each of [await overdue(pay(id, text)), await pay(id, other), await get(id)]) {
      assert.equal(each.statusCode, 503, each.body);
      assert.equal(each.headers['payment-required'], undefined);
    }
    assert.equal((await paying.items(id)).length, 2);
    const cancelled = await refusal(paying.wallet.post(id, 'cancel', {}));
    assert.deepEqual(cancelled, [400, 'invalid_state']);
  });

  it('asks again, and stores nothing, for an authorization that does not fit', async () => {
    const id = await paying.created();
    const accepted = await ask(id);
    const nowS = Math.floor(paying.time.clock.nowMs() / 1000);
    const name = (rest: string) => `invalid_exact_evm_${rest}`;
    const cases: [string, X402Changes][] = [
      [name('payload_authorization_value_mismatch'), { terms: { value: '9999999' } }],
      [name('payload_authorization_value_mismatch'), { terms: { value: '10000001' } }],
      [name('recipient_mismatch'), { terms: { to: `0x${'9'.repeat(40)}` } }],
      [name('payload_authorization_valid_before'), { terms: { validBefore: String(nowS + 5) } }],
      [name('payload_authorization_valid_before'), { terms: { validBefore: String(nowS + 86_400) } }],
      [name('payload_authorization_valid_before'), { terms: { validBefore: (2n ** 256n - 1n).toString() } }],
      [name('payload_authorization_valid_after'), { terms: { validAfter: String(nowS + 60) } }],
      ['invalid_payment_requirements', { bent: { accepted: { ...accepted, asset: USDT.split(':').at(-1) } } }],
      ['invalid_payment_requirements', { bent: { accepted: { ...accepted, network: 'eip155:1' } } }],
    ];
    for (const [error, changes] of cases) {
      assert.equal(await misfit(id, await header(newAgent(), accepted, changes)), error);
    }
    const poor = await header(newAgent(AMOUNT - 1n), accepted);
    assert.equal(await misfit(id, poor), name('insufficient_balance'));
    const thief = newAgent();
    const stolen = await header(newAgent(), accepted, { terms: { from: thief.address } });
    assert.equal(await misfit(id, stolen), name('signature'));
    const short = JSON.parse(Buffer.from(await header(newAgent(), accepted), 'base64').toString());
    short.payload.signature = '0x1234';
    assert.equal(await misfit(id, headerText(short)), name('failed_to_parse_signature'));
    assert.equal((await paying.items(id)).length, 1);
  });

  it('refuses headers that are no payment of version 2', async () => {
    const id = await paying.created();
    const accepted = await ask(id);
    const good = JSON.parse(Buffer.from(await header(newAgent(), accepted), 'base64').toString());
    const { authorization } = good.payload;
    const bad = [
      '%%%',
      'bm8gSlNPTg==',
      headerText([]),
      headerText(null),
      headerText({ ...good, x402Version: 1 }),
      headerText({ x402Version: 1, scheme: 'exact', network: 'base', payload: good.payload }),
      headerText({ ...good, accepted: { ...accepted, scheme: 'upto' } }),
      headerText({ ...good, payload: { permit2Authorization: {}, signature: '0x' } }),
      headerText({ ...good, payload: { ...good.payload, authorization: { ...authorization, value: '1e7' } } }),
      headerText({ ...good, payload: { ...good.payload, authorization: { ...authorization, value: 10_000_000 } } }),
      headerText({ ...good, payload: { ...good.payload, authorization: { ...authorization, nonce: '0x00' } } }),
      headerText({ ...good, payload: { ...good.payload, signature: 7 } }),
      headerText({ ...good, extensions: { 'payment-identifier': { info: { required: false, id: 'short' } } } }),
      'QUJD'.repeat(16 * 1024),
    ];
    for (const text of bad)
      assert.deepEqual(await refusal(pay(id, text)), [400, 'params_validation'], text.slice(0, 40));
    assert.deepEqual(await refusal(get(id, { 'x-payment': 'e30=' })), [400, 'params_validation']);
    assert.match((await get(id, { 'x-payment': 'e30=' })).body, /speaks x402 version 2: use a client of that version/);
    assert.match((await get(id)).json().error, /speaks x402 version 2: use a client of that version/);
    assert.deepEqual(await refusal(get('pay_unknown')), [404, 'payment_not_found']);
    assert.equal((await paying.payment(id)).status, 'requires_action');
  });

  it('gives the same identifier of the same account the same answer', async () => {
    const id = await paying.created();
    const accepted = await ask(id);
    const named = (name: string) => ({
      bent: { extensions: { 'payment-identifier': { info: { required: false, id: name } } } },
    });
    const agent = newAgent();
    for (let times = 0; times < 2; times += 1) {
      const answer = pay(id, await header(agent, accepted, named('agent-request-0001')));
      assert.equal((await overdue(answer)).statusCode, 503);
    }
    const other = pay(id, await header(newAgent(), accepted, named('agent-request-0001')));
    assert.deepEqual(await refusal(other), [409, 'idempotency_conflict']);
    assert.equal((await paying.items(id)).length, 2);
  });

  it('refuses screened accounts, payments that are over, and payments that can be paid in no such way', async () => {
    const id = await paying.created();
    const accepted = await ask(id);
    const agent = newAgent();
    paying.screened.add(`${SANDBOX}:${agent.address}`);
    assert.deepEqual(await refusal(pay(id, await header(agent, accepted))), [400, 'sanctioned_user']);
    const cancelled = await paying.created();
    await paying.wallet.post(cancelled, 'cancel', {});
    assert.deepEqual(await refusal(get(cancelled)), [400, 'invalid_state']);
    const yen = await paying.created({ amount: { unit: 'iso4217/JPY', value: '1000' } }).catch(() => undefined);
    if (yen !== undefined) assert.deepEqual(await refusal(get(yen)), [409, 'executor_not_found']);
  });

  /** The item of an authorization, as a stranger reads it from the header. */
  async function itemIn(id: string, text: string) {
    const { authorization, signature } = JSON.parse(Buffer.from(text, 'base64').toString()).payload;
    const [stored] = await paying.items(id);
    assert.ok(stored?.seal);
    const { network, collector, asset, subject, seal, recipient, feeAccount } = stored;
    const item = {
      ...{ network, collector, asset, subject, seal, recipient, feeAccount, method: 'deposit-vrs' as const },
      payer: authorization.from,
      amount: AMOUNT,
      fee: BigInt(stored.fee),
      deadlineS: Number(authorization.validBefore),
      authorization: { nonce: authorization.nonce, validAfterS: 0 },
    };
    const commitment = paying.network().chain.payerSide.commitmentOf(item);
    return { deposit: stored, signed: { item, commitment, signature, hasCode: false } };
  }

  /** The watcher has read the chain up to its head, with these transfers. */
  async function readChain(transfers: readonly { commitment: string; sender: string; amount: bigint }[] = []) {
    const { number, hash, timestampS } = await paying.network().chain.reader.head();
    const commitments = transfers.map(({ commitment }) => commitment);
    const places = await listPlacesOf(paying.gateway.db.sql, SANDBOX, commitments);
    const rows = transfers.map(({ amount, ...transfer }, logIndex) => ({
      paymentId: places.find(({ commitment }) => commitment === transfer.commitment)?.paymentId ?? '',
      ...{ ...transfer, amount: amount.toString(), asset: USDC, logIndex, isScreened: false },
      ...{ transactionHash: `0x${keys}${logIndex}`, blockNumber: number, blockHash: hash },
      at: new Date(timestampS * 1000),
    }));
    keys += 1;
    await command(paying.gateway, async (tx) => {
      await putMovements(tx, SANDBOX, rows);
      await putDepositCursor(tx, SANDBOX, { readNumber: number, finalNumber: number });
    });
  }

  for (const [when, lifeS] of [
    ['', 60],
    [' and that has almost run out', 5],
  ] as const)
    it(`takes an authorization that a stranger has carried out${when} as soon as its transfer is seen`, () =>
      takesPresented(lifeS));

  async function takesPresented(lifeS: number): Promise<void> {
    const id = await paying.created();
    const accepted = await ask(id);
    const agent = newAgent();
    const validBefore = String(Math.floor(paying.time.clock.nowMs() / 1000) + lifeS);
    const text = await header(agent, accepted, { terms: { validBefore } });
    const { deposit, signed } = await itemIn(id, text);
    await readChain();
    paying.network().control.authorizeAsStranger(signed);
    paying.network().control.mine();
    const early = await overdue(pay(id, text));
    assert.deepEqual(
      [early.statusCode, early.json().status],
      [503, 'requires_action'],
      'no watcher has read the block',
    );
    await readChain([{ commitment: deposit.commitment, sender: agent.address, amount: AMOUNT }]);
    const answer = await overdue(pay(id, text));
    assert.equal((await paying.payment(id)).status, 'processing');
    assert.ok([200, 503].includes(answer.statusCode), answer.body);
    assert.equal((await get(id)).statusCode, 503);
  }

  /** The authorization is presented many times, and nothing is stored: the payment has its address, and no attempt. */
  async function isUnmovedBy(id: string, text: string): Promise<void> {
    for (let done = 0; done < TIMES; done += AT_ONCE) {
      const answers = Promise.all(Array.from({ length: AT_ONCE }, () => pay(id, text)));
      let isAnswered = false;
      void answers.finally(() => {
        isAnswered = true;
      });
      // In small steps: many answers take long to compute, and the payment must not expire meanwhile.
      await until('all are answered', async () => {
        if (!isAnswered) await paying.time.advance(STEP_MS / 16);
        return isAnswered;
      });
      assert.deepEqual(new Set((await answers).map(({ statusCode }) => statusCode)), new Set([402]));
    }
    assert.equal((await paying.payment(id)).status, 'requires_action');
    assert.equal((await paying.items(id)).length, 1);
  }

  it('takes no authorization whose nonce was used before, although somebody has sent dust', async () => {
    const id = await paying.created();
    const thief = newAgent(0n);
    const text = await header(thief, await ask(id));
    const { deposit, signed } = await itemIn(id, text);
    const { control } = paying.network();
    control.useAuthorizationElsewhere(signed.item);
    control.setBalance(deposit.payer, USDC, AMOUNT - 1n);
    control.mine();
    await readChain([{ commitment: deposit.commitment, sender: thief.address, amount: AMOUNT - 1n }]);
    assert.equal(await misfit(id, text, overdue(pay(id, text))), 'invalid_exact_evm_nonce_already_used');
    await isUnmovedBy(id, text);
  });

  it('takes no authorization of an account with code that another key has signed', async () => {
    const id = await paying.created();
    const [wallet, owner, stranger] = [newAgent(), newAgent(), newAgent()];
    const { control } = paying.network();
    control.setCode(wallet.address, { is: 'wallet', owner: owner.address });
    const text = await header(stranger, await ask(id), { terms: { from: wallet.address } });
    const { signed } = await itemIn(id, text);
    control.useAuthorizationElsewhere(signed.item);
    control.mine();
    await readChain();
    assert.equal(await misfit(id, text, overdue(pay(id, text))), 'invalid_exact_evm_signature');
    await isUnmovedBy(id, text);
    const account = `${SANDBOX}:${wallet.address}`;
    const busy = (await findUnderWay(paying.gateway.db.sql, [account], new Date(paying.time.clock.nowMs()))).get(
      account,
    );
    assert.equal(busy?.count ?? 0, 0, 'no place of the account is taken');
  });

  it('asks to pay beside dust, and not beside enough money', async () => {
    const id = await paying.created();
    await ask(id);
    const [deposit] = await paying.items(id);
    const { commitment = '' } = deposit ?? {};
    const { address: sender } = newAgent();
    await readChain([{ commitment, sender, amount: 1n }]);
    assert.equal((await get(id)).statusCode, 402);
    await readChain([{ commitment, sender, amount: AMOUNT - 2n }]);
    assert.equal((await get(id)).statusCode, 402);
    await readChain([{ commitment, sender, amount: 1n }]);
    assert.equal((await get(id)).statusCode, 503);
  });
});

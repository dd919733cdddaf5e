import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { command } from '../../src/actions/command.ts';
import { putEvents } from '../../src/store/chain/chain-events.ts';
import { openPayingShop, type PayingShop, readBuild, result, SANDBOX, USDC } from '../e2e/paying-shop.ts';
import { x402Header } from '../e2e/x402-header.ts';
import { until } from '../until.ts';

/** Each payment of the shop costs this much. */
const PRICE = 10_000_000n;

describe('the money of an account that has payments under way', () => {
  let paying: PayingShop;
  before(async () => {
    const depositMinimum = { everywhere: undefined, on: new Map([[SANDBOX, 0n]]) };
    paying = await openPayingShop({ config: { depositMinimum } });
  });
  after(() => paying?.gateway.stop());

  /** Signs for a payment, and returns the confirmation of it. */
  async function signed(payer: Pick<ReturnType<PayingShop['newPayer']>, 'account' | 'sign'>) {
    const id = await paying.created();
    const option = await paying.wallet.option(id, payer.account, USDC);
    const results = [result(await payer.sign(option))];
    return { id, confirm: () => paying.wallet.confirm(id, option.id, results) };
  }

  it('pays as many payments as it covers, also when all are confirmed at the same moment', async () => {
    const payer = paying.newPayer({ [USDC]: 2n * PRICE });
    const all = [];
    for (let count = 0; count < 6; count += 1) all.push(await signed(payer));
    const answers = await Promise.all(all.map(({ confirm }) => confirm()));
    const codes = answers.map((answer) => (answer.statusCode === 200 ? 'paid' : answer.json().code)).sort();
    assert.deepEqual(codes, ['paid', 'paid', ...Array(4).fill('rate_limited')]);
    assert.match(answers.find(({ statusCode }) => statusCode === 429)?.json().message, /payments under way/);
    const refused = all[answers.findIndex(({ statusCode }) => statusCode === 429)];
    assert.deepEqual(await paying.items(refused?.id ?? ''), [], 'a refused signature is not stored');
  });

  it('is not offered a second time, and is offered again when the first payment is over', async () => {
    const payer = paying.newPayer({ [USDC]: PRICE });
    const first = await signed(payer);
    assert.equal((await first.confirm()).statusCode, 200);
    const second = await paying.created();
    const refused = await paying.wallet.options(second, [payer.account]);
    assert.deepEqual([refused.statusCode, refused.json().code], [429, 'rate_limited']);
    const [item] = await paying.items(first.id);
    await command(
      paying.gateway,
      (tx) => tx`update items set state = 'unpaid', signature = null where commitment = ${item?.commitment ?? ''}`,
    );
    assert.equal((await paying.wallet.options(second, [payer.account])).statusCode, 200);
  });

  it('is not counted twice: a payment that a block shows has left the balance already', async () => {
    const payer = paying.newPayer({ [USDC]: PRICE });
    const first = await signed(payer);
    assert.equal((await first.confirm()).statusCode, 200);
    const [item] = await paying.items(first.id);
    const event = {
      blockNumber: 1,
      blockHash: `0x${'cd'.repeat(32)}`,
      commitment: item?.commitment ?? '',
      transactionHash: `0x${'ef'.repeat(32)}`,
      logIndex: 0,
      type: 'paid',
      fields: {},
    } as const;
    const chainId = paying.network().chain.network.chainId;
    await command(paying.gateway, (tx, at) => putEvents(tx, chainId, [event], at));
    assert.equal((await (await signed(payer)).confirm()).statusCode, 200);
  });

  let agents = 0;
  /** A program that pays by x402, and the same account as a wallet. */
  function newAgent(units: bigint): PrivateKeyAccount {
    agents += 1;
    const agent = privateKeyToAccount(`0x${agents.toString(16).padStart(64, 'b')}`);
    paying.network().control.setBalance(agent.address, USDC, units);
    return agent;
  }

  /** Presents a signed authorization for a payment. A request that waits for the transfer is held, so its time passes here. */
  async function presented(agent: PrivateKeyAccount, id: string) {
    const url = `/x402/${id}`;
    const [accepted] = (await paying.gateway.call({ url })).json().accepts;
    const header = await x402Header(agent, accepted, { nowMs: paying.time.clock.nowMs() });
    let isAnswered = false;
    const answer = paying.gateway.call({ url, headers: { 'payment-signature': header } }).finally(() => {
      isAnswered = true;
    });
    await until('it is answered', async () => {
      if (!isAnswered) await paying.time.advance(4_000);
      return isAnswered;
    });
    return answer;
  }

  const stateOf = async (id: string) => {
    const accepted = (await paying.items(id)).filter(({ authorization }) => authorization !== null);
    return [(await paying.payment(id)).status, accepted.length];
  };

  it('is counted for authorizations by x402 as well, of which a balance covers one', async () => {
    const agent = newAgent(2n * PRICE - 1n);
    const [first, second] = [await paying.created(), await paying.created()];
    assert.equal((await presented(agent, first)).statusCode, 503);
    assert.deepEqual(await stateOf(first), ['processing', 1]);
    const refused = await presented(agent, second);
    assert.deepEqual([refused.statusCode, refused.json().code], [429, 'rate_limited'], refused.body);
    assert.match(refused.json().message, /payments under way/);
    assert.ok(Number(refused.headers['retry-after']) >= 1);
    assert.deepEqual(await stateOf(second), ['requires_action', 0], 'a refused authorization is not stored');
    paying.network().control.setBalance(agent.address, USDC, 2n * PRICE);
    assert.equal((await presented(agent, second)).statusCode, 503);
    assert.deepEqual(await stateOf(second), ['processing', 1]);
  });

  it('is the same money for a wallet and for a program, whichever comes first', async () => {
    const sign = (agent: PrivateKeyAccount) => signed(payerOf(agent));
    const [early, late] = [newAgent(PRICE), newAgent(PRICE)];
    const byWallet = await sign(early);
    const [byProgram, alsoByProgram] = [await paying.created(), await paying.created()];
    assert.equal((await presented(early, byProgram)).statusCode, 503);
    assert.equal((await byWallet.confirm()).json().code, 'rate_limited');
    assert.equal((await (await sign(late)).confirm()).statusCode, 200);
    assert.equal((await presented(late, alsoByProgram)).json().code, 'rate_limited');
  });

  it('is covered once by authorizations that come at the same moment', async () => {
    const agent = newAgent(2n * PRICE);
    const ids = await Promise.all(Array.from({ length: 5 }, () => paying.created()));
    const answers = await Promise.all(ids.map((id) => presented(agent, id)));
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [429, 429, 429, 503, 503]);
    const states = await Promise.all(ids.map(stateOf));
    assert.equal(states.filter(([status]) => status === 'processing').length, 2);
  });

  function payerOf(agent: PrivateKeyAccount): Pick<ReturnType<PayingShop['newPayer']>, 'account' | 'sign'> {
    return {
      account: `${SANDBOX}:${agent.address}`,
      sign: (option) => agent.signTypedData(JSON.parse(readBuild(option).params[1] as string)),
    };
  }
});

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import awkwardToken from '../../contracts/artifacts/AwkwardToken.json' with { type: 'json' };
import { until } from '../until.ts';
import { approvePermit2, FUNDS, TOKEN_ABI } from './fault-chain.ts';
import { type FaultScene, openFaultScene } from './fault-scene.ts';
import { EURC, type SignedPayment, tokenOf, USDC, USDT, WITHIN } from './shopper.ts';

const SEND = { methods: ['eth_sendRawTransaction'] };
const LOST = { as: 'drop', isForwarded: false } as const;
const AWKWARD_ABI = parseAbi(['function mint(address, uint256)', 'function setQuirk(address, uint8)']);
const TAKES_FEE = 1;
/** A contract that answers 18 to everything. */
const EIGHTEEN: Hex = '0x60125f5260205ff3';

describe('tokens with quirks', () => {
  let scene: FaultScene;
  before(async () => {
    scene = await openFaultScene({ payers: 12 });
  });
  afterEach(() => scene.answerTruthfully());
  after(() => scene.close());

  const issuer = (asset: string, functionName: 'blacklist' | 'unBlacklist', account: string) =>
    scene.chain.askIssuer(tokenOf(asset), { abi: TOKEN_ABI, functionName, args: [account as Hex] });
  const codeOf = (asset: string) => scene.chain.request('eth_getCode', tokenOf(asset), 'latest');
  const setCode = (asset: string, code: string) => scene.chain.request('hardhat_setCode', tokenOf(asset), code);
  const isRefused = (payment: SignedPayment) =>
    until('a simulation refuses it', async () => (await scene.item(payment.id))?.refusal != null, WITHIN);

  it('F32: a token with other decimals than we know is switched off with a reason, and the others stay', async () => {
    const code = await codeOf(USDT);
    await setCode(USDT, EIGHTEEN);
    const node = await scene.startNode({ isIdle: true });
    await setCode(USDT, code);
    const connected = node.chains.find(scene.network);
    assert.match(connected?.problems().join() ?? '', /USDT .*18 decimals and not 6/);
    assert.ok(connected?.payable().includes(USDC));
    assert.ok(!connected?.payable().includes(USDT));
    const { id } = await scene.shopper.create();
    const payer = scene.chain.newPayer();
    const response = await node.gateway.call({
      method: 'POST',
      url: `/v1/gateway/payment/${id}/options`,
      headers: { ...scene.shopper.headers, 'content-type': 'application/json' },
      payload: { accounts: [`${scene.network}:${payer.address}`] },
    });
    const units = (response.json().options as { amount: { unit: string } }[]).map(({ amount }) => amount.unit);
    assert.ok(units.includes(`caip19/${USDC}`));
    assert.ok(!units.includes(`caip19/${USDT}`));
    await node.stop();
  });

  it('F32: a token with a transfer fee moves nothing, and the full amount once the fee is off', async () => {
    scene.proxy.lie(LOST, SEND);
    const payment = await scene.shopper.sign({ asset: EURC });
    const code = await codeOf(EURC);
    const { payer } = payment;
    assert.equal((await payment.confirm()).json().status, 'processing');
    await setCode(EURC, awkwardToken.deployedBytecode);
    const callToken = (functionName: 'mint' | 'setQuirk', arg: bigint | number) =>
      scene.chain.carryOut(payer, {
        to: tokenOf(EURC),
        data: encodeFunctionData({ abi: AWKWARD_ABI, functionName, args: [payer.address, arg] as never }),
      });
    await callToken('mint', FUNDS);
    await callToken('setQuirk', TAKES_FEE);
    scene.answerTruthfully();
    await until(
      'it was tried',
      async () => {
        await scene.chain.mine();
        const item = await scene.item(payment.id);
        return item?.state === 'due' && item.refusal === 'short_arrival';
      },
      WITHIN,
    );
    assert.equal(await scene.chain.balanceOf(tokenOf(EURC), payer.address), FUNDS, 'the payer keeps the money');
    assert.equal(await scene.shopper.status(payment), 'processing');
    await setCode(EURC, code);
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });

  it('F32: a token that changes an allowance only through zero is offered once the old one is reset, and paid once', async () => {
    const payer = scene.chain.newPayer();
    const allow = (units: bigint) => scene.chain.carryOut(payer, { to: tokenOf(USDT), data: approvePermit2(units) });
    await allow(1n);
    await assert.rejects(scene.shopper.sign({ asset: USDT, payer }), /is not offered/);
    await allow(0n);
    const payment = await scene.shopper.pay({ asset: USDT, payer });
    assert.deepEqual(
      payment.option.actions.map(({ data }) => data.method),
      ['eth_sendTransaction', 'eth_signTypedData_v4'],
    );
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });

  it('F32: a payer who is blacklisted while the payment waits for a block waits alone, sees the reason, and pays once when it is over', async () => {
    const [payment, other] = await Promise.all([scene.shopper.sign(), scene.shopper.sign()]);
    scene.proxy.lie(LOST, SEND);
    for (const each of [payment, other]) assert.equal((await each.confirm()).statusCode, 200);
    await until(
      'both are stored',
      async () => {
        const states = await Promise.all([payment, other].map(({ id }) => scene.versionsOf(id)));
        return states.every(({ length }) => length > 0);
      },
      WITHIN,
    );
    await issuer(USDC, 'blacklist', payment.payer.address);
    scene.answerTruthfully();
    await scene.shopper.reaches(other, 'succeeded');
    await scene.shopper.isPaidOnce(other);
    await isRefusedFor(payment, 'payer_blacklisted');
    await issuer(USDC, 'unBlacklist', payment.payer.address);
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });

  it('F32: a blacklisted account is offered nothing in that token, and refused at confirm', async () => {
    const payment = await scene.shopper.sign();
    await issuer(USDC, 'blacklist', payment.payer.address);
    const response = await payment.confirm();
    assert.deepEqual([response.statusCode, response.json().code], [400, 'invalid_state']);
    const options = await scene.shopper.wallet.listed(payment.id, [payment.option.account]);
    assert.ok(options.every(({ amount }) => amount.unit !== `caip19/${USDC}`));
    assert.equal(await scene.shopper.status(payment), 'requires_action');
    assert.equal(await scene.shopper.charged(payment), 0n);
  });

  it('F32: a blacklisted merchant is not paid meanwhile, and the payer keeps the money until then', async () => {
    scene.proxy.lie(LOST, SEND);
    const payment = await scene.shopper.pay();
    await until('it is stored', async () => (await scene.versionsOf(payment.id)).length > 0, WITHIN);
    await issuer(USDC, 'blacklist', payment.recipient);
    scene.answerTruthfully();
    await isRefusedFor(payment, 'recipient_blacklisted');
    await issuer(USDC, 'unBlacklist', payment.recipient);
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });

  it('F32: a token on pause delays a payment, which is paid once when the pause is over', async () => {
    const payment = await scene.shopper.sign({ asset: EURC });
    scene.proxy.lie(LOST, SEND);
    assert.equal((await payment.confirm()).statusCode, 200);
    const paused = parseAbi(['function pause()', 'function unpause()']);
    const ask = (functionName: 'pause' | 'unpause') =>
      scene.chain.askIssuer(tokenOf(EURC), { abi: paused, functionName } as never);
    await ask('pause');
    scene.answerTruthfully();
    await scene.chain.mine(3);
    await isRefusedOrDue(payment);
    assert.equal(await scene.shopper.status(payment), 'processing');
    assert.equal(await scene.shopper.charged(payment), 0n);
    await ask('unpause');
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });

  it('F29: an account whose code burns all gas delays no other, and pays once when it stops', async () => {
    const [poison, other] = [await scene.shopper.sign({ asset: EURC }), await scene.shopper.sign({ asset: EURC })];
    scene.proxy.lie(LOST, SEND);
    for (const { confirm } of [poison, other]) assert.equal((await confirm()).statusCode, 200);
    // An endless loop.
    await scene.chain.request('hardhat_setCode', poison.payer.address, '0x5b5f56');
    await scene.chain.mine();
    scene.answerTruthfully();
    await scene.shopper.reaches(other, 'succeeded');
    await scene.shopper.isPaidOnce(other);
    assert.equal(await scene.shopper.charged(poison), 0n);
    assert.equal(await scene.shopper.status(poison), 'processing');
    await scene.chain.request('hardhat_setCode', poison.payer.address, '0x');
    await scene.shopper.reaches(poison, 'succeeded');
    await scene.shopper.isPaidOnce(poison);
  });

  /** Nothing is charged, and the payer is told what is missing and until when it is tried. */
  const isRefusedFor = async (payment: SignedPayment, refusal: string) => {
    const { headers } = scene.shopper;
    const url = `/v1/gateway/payment/${payment.id}`;
    const attempt = async () => (await scene.node.gateway.call({ url, headers })).json().attempt;
    await until(
      `the payer is told of ${refusal}`,
      async () => {
        await scene.chain.mine();
        return (await attempt())?.refusal === refusal;
      },
      WITHIN,
    );
    const deadline = (await scene.item(payment.id))?.deadline.getTime() ?? 0;
    assert.deepEqual(await attempt(), { refusal, triesUntil: deadline / 1_000 });
    assert.equal(await scene.shopper.status(payment), 'processing');
    assert.equal(await scene.shopper.charged(payment), 0n);
  };

  const isRefusedOrDue = async (payment: SignedPayment) => {
    await until(
      'it came back',
      async () => {
        await scene.chain.mine();
        return (await scene.item(payment.id))?.state === 'due';
      },
      WITHIN,
    );
    await isRefused(payment);
  };
});

describe('authorizations that run out', () => {
  let scene: FaultScene;
  let cap = 0n;
  before(async () => {
    scene = await openFaultScene({ payers: 4, relaying: { feeCap: () => cap } });
  });
  after(() => scene.close());

  it('F33: an item that waited too long is not sent any more, ends expired without a charge, and its signature is destroyed', async () => {
    const payment = await scene.shopper.pay();
    const deadline = (await scene.item(payment.id))?.deadline.getTime() ?? 0;
    assert.deepEqual(await scene.versionsOf(payment.id), []);
    // Ten seconds are left by the chain's clock: it might be mined too late.
    scene.node.pass(deadline - 10_000 - scene.node.nowMs());
    await scene.chain.request('evm_setNextBlockTimestamp', deadline / 1_000 - 10);
    await scene.chain.mine(2);
    const rounds = () => scene.proxy.calls.filter(({ method }) => method === 'eth_getTransactionCount').length;
    const before = rounds();
    await until('the relayer has seen that block', () => rounds() > before + 6, WITHIN);
    cap = 10n ** 12n;
    const next = await scene.shopper.pay();
    await scene.shopper.reaches(next, 'succeeded');
    assert.deepEqual(await scene.versionsOf(payment.id), [], 'nothing was signed for it');
    assert.equal(await scene.shopper.status(payment), 'processing');
    await scene.chain.request('evm_setNextBlockTimestamp', deadline / 1_000 + 1);
    scene.node.pass(deadline - scene.node.nowMs() + 2_000);
    await scene.shopper.reaches(payment, 'expired');
    await scene.shopper.isUnpaid(payment, 'expired');
    assert.equal((await payment.confirm()).json().status, 'expired');
  });
});

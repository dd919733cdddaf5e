import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Address, encodeFunctionData, type Hex, maxUint256 } from 'viem';
import testWallet from '../../contracts/artifacts/TestWallet.json' with { type: 'json' };
import {
  COLLECTOR_ADDRESS,
  encodeBatch,
  encodeNativePayment,
  PERMIT2_ADDRESS,
  type SignedItem,
} from '../../src/chains/evm/collector.ts';
import { type AwkwardToken, deployAwkwardToken, type Quirk } from './awkward-token.ts';
import {
  type Collected,
  type CollectorChain,
  createCollectorChain,
  errorSelector,
  FEE_ACCOUNT,
  hex,
  reasonsOf,
  results,
  TOKEN_ABI,
  USDC,
  USDT,
} from './collector-chain.ts';

const SIGNATURE: Hex = `0x${'11'.repeat(64)}`;

let chain: CollectorChain;
before(async () => {
  chain = await createCollectorChain();
});
after(() => chain.evm.close());

describe('awkward tokens', () => {
  let token: Address;
  let setQuirk: AwkwardToken['setQuirk'];
  let setReentry: AwkwardToken['setReentry'];
  before(async () => {
    ({ token, setQuirk, setReentry } = await deployAwkwardToken(chain));
  });

  const item = async (given: Partial<SignedItem> = {}): Promise<SignedItem> => {
    const made = await chain.item({ payer: chain.someone().address, signature: SIGNATURE, ...given });
    await chain.callToken(token, 'mint', [made.payer, 1_000_000_000n]);
    return made;
  };

  /** The item whose payer or recipient brings the quirk out stands between good ones. */
  async function quirky(
    quirk: Quirk,
    at: 'pull' | 'payout',
    allowance?: number,
  ): Promise<Collected & { bad: SignedItem }> {
    const [first, bad, last] = [await item(), await item(), await item()];
    await setQuirk(at === 'pull' ? bad.payer : bad.recipient, quirk);
    const result = await chain.collect({ token, items: [first, bad, last], ...(allowance ? { allowance } : {}) });
    assert.equal(result.receipt.status, 'success');
    for (const good of [first, last]) assert.equal(await chain.balanceOf(token, good.recipient), 9_900_000n);
    assert.equal(await chain.balanceOf(token, COLLECTOR_ADDRESS), 0n);
    return { ...result, bad };
  }

  for (const [quirk, at, reason] of [
    ['TakesFee', 'pull', errorSelector('WrongPayout()')],
    ['MovesNothing', 'pull', errorSelector('PayoutFailed(bytes)')],
    ['Reverts', 'pull', errorSelector('Error(string)')],
    ['RevertsWithMegabyte', 'pull', errorSelector('OutOfGas()')],
    ['BurnsGas', 'pull', errorSelector('OutOfGas()')],
    ['ChargesSender', 'payout', errorSelector('WrongPayout()')],
    ['MovesNothing', 'payout', errorSelector('WrongPayout()')],
    ['AnswersFalse', 'payout', errorSelector('PayoutFailed(bytes)')],
    ['AnswersTwo', 'payout', errorSelector('PayoutFailed(bytes)')],
    ['Reverts', 'payout', errorSelector('PayoutFailed(bytes)')],
    ['BurnsGas', 'payout', errorSelector('OutOfGas()')],
  ] as const) {
    it(`refuse alone an item whose ${at} ${quirk}`, async () => {
      const result = await quirky(quirk, at);
      assert.deepEqual(
        result.logs.map(({ type }) => type),
        ['collected', 'refused', 'collected'],
      );
      assert.equal(reasonsOf(result)[0]?.slice(0, 10), reason);
      assert.equal(await chain.balanceOf(token, result.bad.payer), 1_000_000_000n);
      assert.equal(await chain.balanceOf(token, result.bad.recipient), 0n);
    });
  }

  it('may answer nothing at all when they have paid', async () => {
    assert.deepEqual(results(await quirky('AnswersNothing', 'payout')), ['collected', 'collected', 'collected']);
  });

  it('fill no more than 256 bytes of an event, however much they say', async () => {
    const result = await quirky('RevertsWithMegabyte', 'pull', 7_000_000);
    assert.equal(reasonsOf(result)[0]?.length, 2 + 2 * 256);
  });

  it('cannot come back in, at any entry', async () => {
    const inner = await item();
    const entries: Hex[] = [
      encodeBatch({ kind: 'eip3009-vrs', token, feeAccount: FEE_ACCOUNT, items: [inner] }),
      encodeBatch({ kind: 'eip3009-bytes', token, feeAccount: FEE_ACCOUNT, items: [inner] }),
      encodeBatch({ kind: 'permit2', token, feeAccount: FEE_ACCOUNT, items: [] }),
      encodeNativePayment({ ...inner, amount: 0n, fee: 0n, feeAccount: FEE_ACCOUNT }),
    ];
    for (const entry of entries) {
      await setReentry(entry);
      assert.deepEqual(reasonsOf(await quirky('Reenters', 'pull')), [errorSelector('Reentered()')]);
      const atPayout = reasonsOf(await quirky('Reenters', 'payout'));
      assert.match(
        atPayout[0] ?? '',
        new RegExp(`^${errorSelector('PayoutFailed(bytes)')}.*${errorSelector('Reentered()').slice(2)}`),
      );
    }
    assert.equal(await chain.balanceOf(token, inner.recipient), 0n);
  });

  it('cannot pay the fees by charging more, or by pretending', async () => {
    for (const quirk of ['ChargesSender', 'MovesNothing', 'AnswersFalse', 'Reverts'] as const) {
      const feeAccount = chain.someone().address;
      await setQuirk(feeAccount, quirk);
      const one = await item();
      await chain.callToken(token, 'mint', [COLLECTOR_ADDRESS, 10n ** 9n]);
      const { receipt } = await chain.collect({ token, feeAccount, items: [one] });
      assert.equal(receipt.status, 'reverted', quirk);
      assert.equal(await chain.balanceOf(token, one.payer), 1_000_000_000n);
    }
  });

  it('must be tokens: an account without code is none', async () => {
    const nobody = chain.someone().address;
    const { receipt } = await chain.collect({ token: nobody, items: [await chain.item({ signature: SIGNATURE })] });
    assert.equal(receipt.status, 'reverted');
    const zero = await chain.collect({
      token: '0x0000000000000000000000000000000000000000',
      items: [await chain.item()],
    });
    assert.equal(zero.receipt.status, 'reverted');
  });

  it('leave gas for every item even when all before it burned their allowance', async () => {
    const items = [await item(), await item(), await item(), await item()];
    for (const { payer } of items.slice(0, 3)) await setQuirk(payer, 'BurnsGas');
    const { receipt, logs } = await chain.collect({ token, items });
    assert.deepEqual(results({ receipt, logs }), ['out_of_gas', 'out_of_gas', 'out_of_gas', 'collected']);
  });
});

describe('wallet contracts', () => {
  const walletItem = async (quirk: number, signature?: Hex) => {
    const owner = chain.someone();
    const wallet = await chain.deploy(testWallet, [owner.address, quirk, COLLECTOR_ADDRESS]);
    await chain.callToken(USDC, 'mint', [wallet, 1_000_000_000n]);
    return chain.item({ kind: 'eip3009-bytes', payer: wallet, signer: owner, ...(signature ? { signature } : {}) });
  };
  const batch = { kind: 'eip3009-bytes', token: USDC } as const;

  it('pay when they say yes', async () => {
    const item = await walletItem(0);
    assert.deepEqual(results(await chain.collect({ kind: 'eip3009-bytes', items: [item] })), ['collected']);
    assert.equal(await chain.balanceOf(USDC, item.recipient), 9_900_000n);
  });

  it('pay through Permit2 as well', async () => {
    const owner = chain.someone();
    const wallet = await chain.deploy(testWallet, [owner.address, 0, COLLECTOR_ADDRESS]);
    await chain.callToken(USDT, 'mint', [wallet, 1_000_000_000n]);
    const approve = encodeFunctionData({
      abi: TOKEN_ABI,
      functionName: 'approve',
      args: [PERMIT2_ADDRESS, maxUint256],
    });
    const data = encodeFunctionData({ abi: testWallet.abi, functionName: 'execute', args: [USDT, approve] });
    await chain.rpc('hardhat_setBalance', [owner.address, hex(10n ** 18n)]);
    await chain.send({ from: owner.address, to: wallet, data });
    const item = await chain.item({ kind: 'permit2', token: USDT, payer: wallet, signer: owner });
    assert.deepEqual(results(await chain.collect({ kind: 'permit2', token: USDT, items: [item] })), ['collected']);
  });

  it('that say no, burn their gas or answer a megabyte are refused alone', async () => {
    const wrong = await walletItem(0, `0x${'22'.repeat(65)}`);
    assert.equal(results(await chain.refusesAlone(wrong, batch))[1], 'wrong_signature');
    assert.equal(results(await chain.refusesAlone(await walletItem(1), batch))[1], 'out_of_gas');
    await chain.refusesAlone(await walletItem(3), batch);
  });

  it('cannot come back in', async () => {
    const inner = encodeBatch({ ...batch, feeAccount: FEE_ACCOUNT, items: [] });
    await chain.refusesAlone(await walletItem(2, inner), batch);
  });
});

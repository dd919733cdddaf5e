import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  keccak256,
  parseAbi,
} from 'viem';
import {
  DEPOSITS_ADDRESS,
  type DepositTerms,
  depositAddress,
  depositCommitment,
  encodeSweep,
  maxItemsPerSweep,
  sweepGasLimit,
} from '../../src/chains/evm/deposits.ts';
import { createSandboxEvm } from '../../src/sandbox/sandbox-evm.ts';
import { type AwkwardToken, deployAwkwardToken, type Quirk } from './awkward-token.ts';
import {
  type CollectorChain,
  createCollectorChain,
  errorSelector,
  FEE_ACCOUNT,
  TOKEN_ABI,
  USDC,
  USDT,
} from './collector-chain.ts';
import { createDepositScene, type DepositScene } from './deposit-scene.ts';

const PAY_OUT_ABI = parseAbi(['function payOut(address, address, uint256, address, uint256, uint256)']);

describe('deposit addresses', () => {
  let chain: CollectorChain;
  let scene: DepositScene;
  before(async () => {
    chain = await createCollectorChain();
    scene = createDepositScene(chain);
    await chain.callToken(USDC, 'mint', [FEE_ACCOUNT, 1n]);
  });
  after(() => chain.evm.close());

  const usdc = (account: Address) => chain.balanceOf(USDC, account);

  it('are the CREATE2 address of a minimal proxy, with the terms as salt', () => {
    const item = scene.terms();
    const { token, feeAccount, subject, recipient, amount, fee } = item;
    const types = ['address', 'address', 'bytes32', 'address', 'uint256', 'uint256'].map((type) => ({ type }));
    const salt = keccak256(encodeAbiParameters(types, [token, feeAccount, subject, recipient, amount, fee]));
    const code = `0x602c8060095f395ff3365f5f375f5f365f73${DEPOSITS_ADDRESS.slice(2).toLowerCase()}5af43d5f5f3e5f3d91602a57fd5bf3`;
    const bytecode = code as Hex;
    const expected = getContractAddress({ opcode: 'CREATE2', from: DEPOSITS_ADDRESS, salt, bytecode });
    assert.equal(depositAddress(item), expected);
  });

  it('are swept by a stranger to the recipient, less the fee, as often as money arrives', async () => {
    const item = scene.terms();
    const deposit = await scene.arrive(item);
    const fees = await usdc(FEE_ACCOUNT);
    const first = await scene.sweep({ items: [item] });
    const { subject, recipient } = item;
    const commitment = depositCommitment(item);
    const terms = { askedToken: USDC, feeAccount: FEE_ACCOUNT, asked: 10_000_000n, askedFee: 100_000n };
    const sweptLog = { commitment, subject, token: USDC, recipient, terms };
    assert.deepEqual(first.logs, [{ ...sweptLog, amount: 10_000_000n, fee: 100_000n }]);
    assert.equal(await usdc(recipient), 9_900_000n);
    assert.equal((await usdc(FEE_ACCOUNT)) - fees, 100_000n);

    await scene.arrive(item, 50n);
    const again = await scene.sweep({ items: [item] });
    // A hundredth of 50 is less than a unit: the recipient gets the rest of the division.
    assert.deepEqual(again.logs, [{ ...sweptLog, amount: 50n, fee: 0n }]);
    assert.equal(await usdc(recipient), 9_900_050n);
    assert.equal(await usdc(deposit), 0n);
    assert.ok(again.gasUsed < first.gasUsed);
  });

  it('take the same share of the fee of less money than asked, and no more than the asked fee of more', async () => {
    for (const [amount, fee] of [
      [4_000_000n, 40_000n],
      [9_999_999n, 99_999n],
      [10_000_000n, 100_000n],
      [25_000_000n, 100_000n],
    ] as const) {
      const item = scene.terms();
      await scene.arrive(item, amount);
      const { logs } = await scene.sweep({ items: [item] });
      assert.deepEqual(
        logs.map((log) => [log.amount, log.fee]),
        [[amount, fee]],
      );
    }
  });

  it('may have no fee, or nothing but a fee', async () => {
    const [free, whole] = [scene.terms({ fee: 0n }), scene.terms({ fee: 10_000_000n })];
    await scene.arrive(free);
    await scene.arrive(whole);
    const { logs } = await scene.sweep({ items: [free, whole] });
    assert.deepEqual(
      logs.map(({ fee }) => fee),
      [0n, 10_000_000n],
    );
    assert.deepEqual([await usdc(free.recipient), await usdc(whole.recipient)], [10_000_000n, 0n]);
  });

  it('are of no use with any other term', async () => {
    const item = scene.terms();
    const deposit = await scene.arrive(item);
    const thief = chain.someone().address;
    const bent: Partial<DepositTerms>[] = [
      { recipient: thief },
      { feeAccount: thief },
      { fee: item.fee + 1n },
      { amount: item.amount - 1n },
      { token: USDT },
      { subject: chain.newSubject() },
    ];
    for (const change of bent) {
      const other = { ...item, ...change };
      assert.notEqual(depositAddress(other), deposit);
      const [reason] = await scene.simulate({ token: USDC, items: [other] });
      assert.equal(reason, errorSelector('NothingThere()'));
    }
    assert.equal(await usdc(deposit), item.amount);
  });

  it('obey nobody but their contract, before and after their first sweep', async () => {
    const item = scene.terms();
    await scene.arrive(item);
    await scene.sweep({ items: [item] });
    const deposit = await scene.arrive(item, 500n);
    const thief = chain.someone().address;
    const payOut = encodeFunctionData({ abi: PAY_OUT_ABI, args: [USDC, thief, 250n, thief, 250n, 0n] });
    const calls: [Address, Hex][] = [
      [deposit, payOut],
      [DEPOSITS_ADDRESS, payOut],
      [deposit, encodeSweep({ token: USDC, items: [item] })],
      [deposit, encodeFunctionData({ abi: TOKEN_ABI, functionName: 'transfer', args: [thief, 500n] })],
    ];
    for (const [to, data] of calls) assert.equal((await chain.send({ to, data })).status, 'reverted');
    assert.equal(await usdc(deposit), 500n);
  });

  it('give a wrong token to the same recipient, with the same share', async () => {
    const item = scene.terms();
    await scene.arrive(item, 3_000_000n, USDT);
    const { logs } = await scene.sweep({ token: USDT, items: [item] });
    assert.deepEqual(
      logs.map(({ token, amount, fee }) => [token, amount, fee]),
      [[USDT, 3_000_000n, 30_000n]],
    );
    assert.equal(await chain.balanceOf(USDT, item.recipient), 2_970_000n);
  });

  it('that are empty, impossible or refused by the token leave the others of the transaction alone', async () => {
    const [first, empty, listed, last] = [scene.terms(), scene.terms(), scene.terms(), scene.terms()];
    const impossible = [scene.terms({ amount: 0n, fee: 0n }), scene.terms({ fee: 10_000_001n })];
    await chain.callToken(USDC, 'blacklist', [listed.recipient]);
    for (const item of [first, listed, last, ...impossible]) await scene.arrive(item, 10_000_000n);
    const items = [first, empty, listed, ...impossible, last];
    const reasons = (await scene.simulate({ items })).map((reason) => reason?.slice(0, 10));
    const [none, wrong] = [errorSelector('NothingThere()'), errorSelector('ImpossibleTerms()')];
    assert.deepEqual(reasons, [undefined, none, errorSelector('PayoutFailed(bytes)'), wrong, wrong, undefined]);
    const { logs } = await scene.sweep({ items });
    assert.deepEqual(
      logs.map(({ commitment }) => commitment),
      [depositCommitment(first), depositCommitment(last)],
    );
    assert.equal(await usdc(depositAddress(listed)), 10_000_000n);
    // The recipient may be taken off the list. The same sweep then succeeds.
    await chain.callToken(USDC, 'unBlacklist', [listed.recipient]);
    assert.equal((await scene.sweep({ items: [listed] })).logs.length, 1);
  });

  it('are the same on every chain, where money sent by mistake can be swept as well', async () => {
    const other = await createSandboxEvm({ mining: 'auto', chainId: 84532 });
    try {
      const item = scene.terms();
      const [deposit] = [depositAddress(item)];
      const call = (method: string, ...params: unknown[]) => other.request({ method, params });
      const from = '0x57a4ae500000000000000000000000000000571a';
      await call('hardhat_setBalance', from, '0xde0b6b3a7640000');
      await call('hardhat_impersonateAccount', from);
      const { minter } = (await import('../../src/sandbox/genesis.ts')).SANDBOX_ACCOUNTS;
      await call('hardhat_impersonateAccount', minter);
      const mint = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'mint', args: [deposit, 700n] });
      await call('eth_sendTransaction', { from: minter, to: USDC, data: mint });
      const data = encodeSweep({ token: USDC, items: [item] });
      await call('eth_sendTransaction', { from, to: DEPOSITS_ADDRESS, data, gas: '0xf4240' });
      const asked = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'balanceOf', args: [item.recipient] });
      assert.equal(BigInt((await call('eth_call', { to: USDC, data: asked }, 'latest')) as string), 693n);
    } finally {
      await other.close();
    }
  });

  it('are not swept with too little gas: the transaction reverts as a whole', async () => {
    const item = scene.terms();
    const deposit = await scene.arrive(item);
    assert.equal((await scene.sweep({ items: [item] }, 200_000)).status, 'reverted');
    assert.equal(await usdc(deposit), 10_000_000n);
  });

  it('are never listed in part: a torn item reverts', async () => {
    const data = encodeSweep({ token: USDC, items: [scene.terms()] }).slice(0, -2) as Hex;
    assert.equal((await chain.send({ to: DEPOSITS_ADDRESS, data })).status, 'reverted');
  });

  describe('of awkward tokens', () => {
    let token: Address;
    let setQuirk: AwkwardToken['setQuirk'];
    let setReentry: AwkwardToken['setReentry'];
    before(async () => {
      ({ token, setQuirk, setReentry } = await deployAwkwardToken(chain));
    });

    /** The deposit whose recipient brings the quirk out stands between good ones. */
    async function quirky(quirk: Quirk) {
      const [first, bad, last] = [scene.terms({ token }), scene.terms({ token }), scene.terms({ token })];
      for (const item of [first, bad, last]) await scene.arrive(item);
      await setQuirk(bad.recipient, quirk);
      const [, reason] = await scene.simulate({ items: [first, bad, last] });
      const swept = await scene.sweep({ items: [first, bad, last] });
      assert.equal(swept.status, 'success');
      for (const { recipient } of [first, last]) assert.equal(await chain.balanceOf(token, recipient), 9_900_000n);
      return { reason: reason?.slice(0, 10), swept, bad };
    }

    for (const [quirk, reason] of [
      ['ChargesSender', errorSelector('WrongPayout()')],
      ['MovesNothing', errorSelector('WrongPayout()')],
      ['AnswersFalse', errorSelector('PayoutFailed(bytes)')],
      ['AnswersTwo', errorSelector('PayoutFailed(bytes)')],
      ['Reverts', errorSelector('PayoutFailed(bytes)')],
      ['RevertsWithMegabyte', errorSelector('OutOfGas()')],
      ['BurnsGas', errorSelector('OutOfGas()')],
    ] as const) {
      it(`stay whole where a payout ${quirk}`, async () => {
        const { reason: quirkReason, swept, bad } = await quirky(quirk);
        assert.equal(quirkReason, reason);
        assert.equal(swept.logs.length, 2);
        assert.equal(await chain.balanceOf(token, depositAddress(bad)), 10_000_000n);
        assert.equal(await chain.balanceOf(token, bad.recipient), 0n);
      });
    }

    it('are swept where the token answers nothing, or takes a fee of its own', async () => {
      for (const quirk of ['AnswersNothing', 'TakesFee'] as const) {
        const { swept, bad } = await quirky(quirk);
        assert.equal(swept.logs.length, 3);
        assert.equal(await chain.balanceOf(token, depositAddress(bad)), 0n);
      }
    });

    it('cannot be swept from within a sweep', async () => {
      const inner = scene.terms({ token });
      await scene.arrive(inner);
      await setReentry(encodeSweep({ token, items: [inner] }));
      const { swept, bad } = await quirky('Reenters');
      assert.equal(swept.logs.length, 2);
      assert.equal(await chain.balanceOf(token, depositAddress(bad)), 10_000_000n);
      assert.equal(await chain.balanceOf(token, depositAddress(inner)), 10_000_000n);
    });

    it('are refused, each with its own gas, where the balance burns gas or none is answered', async () => {
      const burner = chain.someone().address;
      // An endless loop.
      await chain.rpc('hardhat_setCode', [burner, '0x5b600056']);
      const nobody = chain.someone().address;
      for (const [bad, reason] of [
        [burner, errorSelector('OutOfGas()')],
        [nobody, errorSelector('NotAToken()')],
      ] as const) {
        const items = [scene.terms({ token: bad }), scene.terms({ token: bad })];
        assert.deepEqual(await scene.simulate({ items }), [reason, reason]);
        assert.equal((await scene.sweep({ items })).status, 'success');
      }
    });

    it('are swept in parts where a balance is beyond 16 bytes', async () => {
      const item = scene.terms({ token });
      const deposit = await scene.arrive(item, 2n ** 128n + 6n);
      await scene.sweep({ items: [item] });
      assert.equal(await chain.balanceOf(token, deposit), 7n);
      await scene.sweep({ items: [item] });
      assert.equal(await chain.balanceOf(token, deposit), 0n);
    });
  });

  /** Gas is exact, so these are no timings. All accounts hold the token before, and recipients are distinct. */
  describe('in gas, as a multiple of a plain transfer of the same token', () => {
    let plain: number;
    before(async () => {
      const payer = await chain.payer('eip3009-vrs', USDC);
      await chain.rpc('hardhat_setBalance', [payer.address, '0xde0b6b3a7640000']);
      const to = await merchant();
      const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'transfer', args: [to, 10_000_000n] });
      plain = (await chain.send({ from: payer.address, to: USDC, data })).gasUsed;
    });

    async function merchant(): Promise<Address> {
      const { address } = chain.someone();
      await chain.callToken(USDC, 'mint', [address, 1n]);
      return address;
    }

    async function multiple(count: number): Promise<number> {
      const items: DepositTerms[] = [];
      while (items.length < count) items.push(scene.terms({ recipient: await merchant() }));
      for (const item of items) await scene.arrive(item);
      const { logs, gasUsed } = await scene.sweep({ items });
      assert.equal(logs.length, count);
      return gasUsed / count / plain;
    }

    /** Fails when a sweep costs more than that, and also when the figure is out of date by more than two hundredths. */
    function isAbout(actual: number, most: number): void {
      assert.ok(actual <= most && actual > most - 0.02, `${actual.toFixed(4)} is not just below ${most}`);
    }

    it('cost 1.6 when ten are swept together, with the creation of their proxies', async () => {
      isAbout(await multiple(10), 1.65);
    });

    it('cost 2.4 when one is swept alone', async () => {
      isAbout(await multiple(1), 2.45);
    });

    it('fit into a transaction, however many they are', () => {
      const items = Array.from({ length: maxItemsPerSweep() + 1 }, () => scene.terms());
      assert.ok(items.length > 50 && sweepGasLimit({ items: items.slice(1) }) <= 2 ** 24);
    });
  });
});

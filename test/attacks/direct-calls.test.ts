import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { PERMIT2_ADDRESS } from '../../src/chains/evm/collector.ts';
import { SANDBOX_ACCOUNTS } from '../../src/sandbox/genesis.ts';
import { listFreezes } from '../../src/store/parties/freezes.ts';
import { readBuild } from '../e2e/paying-shop.ts';
import { type FaultScene, openFaultScene } from '../faults/fault-scene.ts';
import { AMOUNT, type SignedPayment, tokenOf, USDC, USDT, WITHIN } from '../faults/shopper.ts';
import { IS_LONG } from '../long.ts';
import { until } from '../until.ts';

const ABI = parseAbi([
  'function transferFrom(address from, address to, uint256 value)',
  'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct Permit { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct Details { address to; uint256 requestedAmount; }',
  'function permitTransferFrom(Permit permit, Details details, address owner, bytes signature)',
]);
/** How often each call is repeated. */
const TIMES = IS_LONG ? 1_000 : 60;
const CALLS_PER_BLOCK = 50;

describe('a stranger who calls tokens and Permit2', () => {
  let scene: FaultScene;
  let stranger: ReturnType<FaultScene['chain']['newPayer']>;
  before(async () => {
    scene = await openFaultScene({ endpoints: 2, payers: 8, paysOut: true });
    stranger = scene.chain.newPayer();
  });
  after(() => scene.close());

  /** The outcomes of these calls, many in a block. */
  async function call(calls: readonly { readonly to: Hex; readonly data: Hex }[]): Promise<Set<string>> {
    const outcomes = new Set<string>();
    for (let at = 0; at < calls.length; at += CALLS_PER_BLOCK) {
      const hashes: Hex[] = [];
      for (const each of calls.slice(at, at + CALLS_PER_BLOCK))
        hashes.push(await scene.chain.send(stranger, each, undefined, 200_000n));
      await scene.chain.mine();
      for (const hash of hashes) {
        const receipt = await scene.chain.request<{ status: Hex }>('eth_getTransactionReceipt', hash);
        outcomes.add(receipt.status === '0x1' ? 'carried out' : 'reverted');
      }
    }
    return outcomes;
  }

  const repeated = <T>(calls: readonly T[]): T[] => Array.from({ length: TIMES / calls.length }, () => calls).flat();

  /** Nothing is frozen, nobody is told of anything, and no movement is stored. */
  async function isUnmoved(): Promise<void> {
    assert.deepEqual(await listFreezes(scene.sql), []);
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual([...(await scene.sql`select * from movements`)], [], 'a transfer of nothing is no movement');
  }

  it(`moves nothing from our accounts, addresses and payers ${TIMES} times: nothing is stored, frozen or reported`, async () => {
    const payment = await scene.shopper.pay({ isHeld: true });
    const open = await scene.shopper.create();
    const given = await scene.shopper.wallet.post(open.id, 'address', { asset: USDC });
    const address = String(given.json().address).split(':')[2] as Hex;
    const ours = [SANDBOX_ACCOUNTS.intermediate, scene.relayer as Hex, SANDBOX_ACCOUNTS.feeAccount, address];
    const places = [...ours, payment.payer.address, stranger.address];
    const calls = Array.from({ length: TIMES }, (_, index) => {
      const [from = stranger.address, to = stranger.address] = [
        places[index % places.length],
        places[Math.floor(index / places.length) % places.length],
      ];
      const data = encodeFunctionData({ abi: ABI, functionName: 'transferFrom', args: [from, to, 0n] });
      return { to: tokenOf(index % 2 === 0 ? USDC : USDT), data };
    });
    assert.deepEqual(await call(calls), new Set(['carried out']));
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.register(payment.merchant, USDC);
    const hasArrived = async () => {
      await scene.chain.mine();
      return (await scene.chain.balanceOf(tokenOf(USDC), payment.merchant.recipient)) === AMOUNT;
    };
    await until('it is paid out', hasArrived, WITHIN);
    assert.equal(await scene.shopper.status(open), 'requires_action');
    await isUnmoved();
  });

  /** The typed data that the payer has signed, and the signature. */
  function signedBy({ option, results }: SignedPayment) {
    const action = option.actions.at(-1);
    const { params } = action?.type === 'build' ? readBuild({ ...option, actions: [action] }) : (action?.data ?? {});
    const { message } = JSON.parse(String(params?.[1]));
    return { message, signature: String(results.at(-1)?.data[0]) as Hex };
  }

  it('presents the authorization of a payer to the token, which takes it from the Collector alone', async () => {
    const payment = await scene.shopper.sign();
    const { message, signature } = signedBy(payment);
    const { from, to, value, validAfter, validBefore, nonce } = message;
    const [r, s, v] = [`0x${signature.slice(2, 66)}`, `0x${signature.slice(66, 130)}`, `0x${signature.slice(130)}`];
    const calls = (['receiveWithAuthorization', 'transferWithAuthorization'] as const).flatMap((functionName) =>
      [to, stranger.address].map((payee: Hex) => {
        const terms = [from, payee, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce] as const;
        const args = [...terms, Number(v), r as Hex, s as Hex] as const;
        return { to: tokenOf(USDC), data: encodeFunctionData({ abi: ABI, functionName, args }) };
      }),
    );
    assert.deepEqual(await call(repeated(calls)), new Set(['reverted']));
    await payment.confirm();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
    await isUnmoved();
  });

  it('presents the permit of a payer to Permit2, which takes it from the Collector alone', async () => {
    const payment = await scene.shopper.sign({ asset: USDT });
    const { message, signature } = signedBy(payment);
    const { permitted, nonce, deadline } = message;
    const amount = BigInt(permitted.amount);
    const permit = { permitted: { token: permitted.token, amount }, nonce: BigInt(nonce), deadline: BigInt(deadline) };
    const calls = [amount, 1n, 0n].map((requestedAmount) => {
      const details = { to: stranger.address, requestedAmount };
      const args = [permit, details, payment.payer.address, signature] as const;
      return { to: PERMIT2_ADDRESS, data: encodeFunctionData({ abi: ABI, functionName: 'permitTransferFrom', args }) };
    });
    assert.deepEqual(await call(repeated(calls)), new Set(['reverted']));
    await payment.confirm();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
    await isUnmoved();
  });
});

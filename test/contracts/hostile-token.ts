import assert from 'node:assert/strict';
import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem';
import hostileToken from '../../contracts/artifacts/HostileToken.json' with { type: 'json' };
import type { SignedItem } from '../../src/chains/evm/collector.ts';
import { type DepositTerms, depositCommitment } from '../../src/chains/evm/deposits.ts';
import { type CollectorChain, createCollectorChain, DEADLINE, FEE_ACCOUNT, USDC } from './collector-chain.ts';
import { type Authorized, createDepositScene } from './deposit-scene.ts';

const ABI = parseAbi([
  'function play(uint8, address, uint256)',
  'function setPull(uint8)',
  'function list(address, bool)',
]);
const TRICKS = ['None', 'AnswersBytes', 'Boasts', 'Flips', 'IsDear', 'BurnsGas', 'AnswersWords'] as const;
const PULLS = ['Moves', 'Accepts', 'TellsGas', 'RevertsAfterwards', 'BurnsGas'] as const;
const EVERYBODY: Address = '0x0000000000000000000000000000000000000000';
/** The token accepts any signature. */
export const ANY_SIGNATURE: Hex = `0x${'11'.repeat(64)}`;

export type HostileToken = Awaited<ReturnType<typeof deployHostileToken>>;

/** A token that misbehaves on demand: `contracts/test/HostileToken.sol`. */
export async function deployHostileToken(chain: CollectorChain) {
  const token = await chain.deploy(hostileToken);
  const send = (data: Hex) => chain.send({ to: token, data });

  /** The trick that all questions for a balance meet, or those for the balance of one account. */
  const play = (trick: (typeof TRICKS)[number], value = 0n, target = EVERYBODY) =>
    send(encodeFunctionData({ abi: ABI, functionName: 'play', args: [TRICKS.indexOf(trick), target, value] }));

  const setPull = (pull: (typeof PULLS)[number]) =>
    send(encodeFunctionData({ abi: ABI, functionName: 'setPull', args: [PULLS.indexOf(pull)] }));

  const list = (account: Address, isListed: boolean) =>
    send(encodeFunctionData({ abi: ABI, functionName: 'list', args: [account, isListed] }));

  /** An item of the Collector by a payer who has the money. */
  async function item(given: Partial<SignedItem> = {}): Promise<SignedItem> {
    const made = await chain.item({ payer: chain.someone().address, signature: ANY_SIGNATURE, ...given });
    await chain.callToken(token, 'mint', [made.payer, made.amount]);
    return made;
  }

  /** The authorization of a payer who has the money, to a deposit address. */
  async function authorized(terms: DepositTerms): Promise<Authorized> {
    const payer = chain.someone().address;
    await chain.callToken(token, 'mint', [payer, terms.amount]);
    const times = { validAfter: 0, validBefore: DEADLINE };
    return { ...terms, payer, ...times, nonce: depositCommitment(terms), signature: ANY_SIGNATURE };
  }

  return { token, play, setPull, list, item, authorized };
}

/** A chain with deposit addresses and a hostile token. The fee account already holds USDC. */
export async function openHostileScene() {
  const chain = await createCollectorChain();
  const scene = createDepositScene(chain);
  const hostile = await deployHostileToken(chain);
  await chain.callToken(USDC, 'mint', [FEE_ACCOUNT, 1n]);
  return { chain, scene, hostile };
}

/**
 * Asserts that a token meets the whole allowance of its item, or the transaction reverts: there is no limit of gas between. `gasReported` runs
 * the transaction with a limit of gas, and returns the gas that the token saw; undefined if the transaction reverted.
 */
export async function assertWholeAllowance(
  allowance: number,
  gasReported: (gas: number) => Promise<bigint | undefined>,
): Promise<void> {
  const ample = await gasReported(2 ** 24);
  assert.ok(ample !== undefined && ample > (BigInt(allowance) * 8n) / 10n);
  let [tooLittle, enough] = [allowance, 2 ** 24];
  while (enough - tooLittle > 1) {
    const middle = Math.floor((tooLittle + enough) / 2);
    if ((await gasReported(middle)) === undefined) tooLittle = middle;
    else enough = middle;
  }
  assert.equal(await gasReported(enough), ample, `${allowance}`);
  assert.ok(enough < (allowance * 64) / 63 + 50_000);
}

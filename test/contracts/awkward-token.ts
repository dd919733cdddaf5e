import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem';
import awkwardToken from '../../contracts/artifacts/AwkwardToken.json' with { type: 'json' };
import type { CollectorChain } from './collector-chain.ts';

/** The quirks of `contracts/test/AwkwardToken.sol`, by their numbers. */
export const QUIRKS = [
  'None',
  'TakesFee',
  'ChargesSender',
  'MovesNothing',
  'AnswersFalse',
  'AnswersNothing',
  'AnswersTwo',
  'Reverts',
  'RevertsWithMegabyte',
  'BurnsGas',
  'Reenters',
] as const;
export type Quirk = (typeof QUIRKS)[number];

const ABI = parseAbi(['function setQuirk(address, uint8)', 'function setReentry(bytes)']);

export type AwkwardToken = Awaited<ReturnType<typeof deployAwkwardToken>>;

/** A token that takes any signature, and treats each account by a quirk. */
export async function deployAwkwardToken(chain: CollectorChain) {
  const token = await chain.deploy(awkwardToken);
  const setQuirk = (account: Address, quirk: Quirk) => {
    const args = [account, QUIRKS.indexOf(quirk)] as const;
    return chain.send({ to: token, data: encodeFunctionData({ abi: ABI, functionName: 'setQuirk', args }) });
  };
  /** The call that the token makes for accounts with the quirk `Reenters`. */
  const setReentry = (call: Hex) =>
    chain.send({ to: token, data: encodeFunctionData({ abi: ABI, functionName: 'setReentry', args: [call] }) });
  return { token, setQuirk, setReentry };
}

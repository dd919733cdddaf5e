import { ChainUnavailableError } from '../../chains/chain-errors.ts';
import type { ChainReader, Witness } from '../../chains/chain-reader.ts';

/** The number of endpoints that must show the same block 0, unless the network has only one endpoint. */
const SPEAKERS = 2;

/**
 * The hash of block 0, which distinguishes chains with the same id. Null while fewer than two endpoints have shown it: some are
 * silent, and some nodes have no old blocks. One endpoint alone cannot switch the network off if two others agree.
 */
export async function findGenesis(
  reader: ChainReader,
): Promise<{ readonly genesis: string | null } | { readonly dispute: string }> {
  const witnesses = reader.witnesses();
  const shown = (await Promise.all(witnesses.map(genesisBy))).flatMap((each) => each ?? []);
  const byHash = [...Map.groupBy(shown, ({ hash }) => hash).values()];
  const least = Math.min(SPEAKERS, witnesses.length);
  const [agreed, ...contrary] = byHash.filter((speakers) => speakers.length >= least);
  if (agreed !== undefined && contrary.length === 0) return { genesis: agreed[0]?.hash ?? null };
  const [first, other] = byHash.map((speakers) => speakers[0]);
  if (first === undefined || other === undefined) return { genesis: null };
  const { name, chainId } = reader.network;
  return {
    dispute: `${name} (${chainId}) is switched off: its endpoints are on two chains with the same number. Block 0 is ${first.hash} at ${first.name}, and ${other.hash} at ${other.name}. Remove the wrong one from RPC_URLS.`,
  };
}

async function genesisBy(witness: Witness): Promise<{ readonly name: string; readonly hash: string } | undefined> {
  try {
    const block = await witness.block(0);
    return block && { name: witness.name, hash: block.hash };
  } catch (error) {
    if (error instanceof ChainUnavailableError) return undefined;
    throw error;
  }
}

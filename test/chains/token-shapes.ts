import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import testAgora from '../../contracts/artifacts/TestAgora.json' with { type: 'json' };
import testPaxos from '../../contracts/artifacts/TestPaxos.json' with { type: 'json' };
import testWrapped from '../../contracts/artifacts/TestWrapped.json' with { type: 'json' };
import type { KnownAsset } from '../../src/chains/network.ts';
import { type PlacedToken, placeDollar, placeTether, SANDBOX_ACCOUNTS } from '../../src/sandbox/genesis.ts';
import { assetsOf } from '../registry.ts';

const NAMED = parseAbi(['function initialize(string name, address admin)']);

/** A test token in the shape of each token of a network, at the address of the real one. `docs/tokens.md` has the shapes. */
export function placeTokens(network: string): PlacedToken[] {
  return assetsOf(network).flatMap((asset) => (asset.pay?.method === 'native' ? [] : [placeToken(asset)]));
}

function placeToken(asset: KnownAsset): PlacedToken {
  const address = asset.id.slice(asset.id.lastIndexOf(':') + 1) as Hex;
  const name = asset.pay !== undefined && 'domain' in asset.pay ? asset.pay.domain.name : asset.name;
  switch (asset.symbol) {
    case 'USDC':
    case 'EURC':
      return placeDollar(address, { name, symbol: asset.symbol });
    case 'USDT':
      return placeTether(address);
    case 'PYUSD':
    case 'USDG':
      return placeNamed(testPaxos, address, name);
    case 'AUSD':
      return placeNamed(testAgora, address, name);
    case 'WETH':
      return { predeploy: codeAt(testWrapped, address), initialize: { to: address, data: '0x' } };
    default:
      throw new Error(`No test token has the shape of ${asset.symbol}.`);
  }
}

function placeNamed(artifact: { deployedBytecode: string }, address: Hex, name: string): PlacedToken {
  const data = encodeFunctionData({ abi: NAMED, args: [name, SANDBOX_ACCOUNTS.minter] });
  return { predeploy: codeAt(artifact, address), initialize: { to: address, data } };
}

function codeAt({ deployedBytecode }: { deployedBytecode: string }, address: Hex): PlacedToken['predeploy'] {
  return { address, nonce: 1n, code: deployedBytecode as Hex };
}

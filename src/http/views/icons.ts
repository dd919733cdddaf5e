import type { RegistryDeps } from '../../chains/registry.ts';

/** Pictures of tokens and networks are served from the gateway's own origin, so that no third party sees the page view. */
export interface Origin extends RegistryDeps {
  readonly publicUrl: string;
}

export function tokenIconUrl({ publicUrl }: Origin, symbol: string): string {
  return `${publicUrl}/icons/token/${encodeURIComponent(symbol)}.svg`;
}

/** Named by the CAIP-2 id with a hyphen for the colon, because some file systems do not allow colons. */
export function networkIconUrl({ publicUrl }: Origin, chainId: string): string {
  return `${publicUrl}/icons/network/${chainId.replace(':', '-')}.svg`;
}

/** The gateway's copy of a merchant's logo, named by the hash of its bytes. */
export function logoUrl({ publicUrl }: Origin, hash: string): string {
  return `${publicUrl}/logos/${hash}`;
}

/**
 * Pictures of tokens and networks are served from the gateway's own origin, so that no third party learns of the page
 * view.
 */
export interface Origin {
  readonly publicUrl: string;
}

export function tokenIconUrl({ publicUrl }: Origin, symbol: string): string {
  return `${publicUrl}/icons/token/${encodeURIComponent(symbol)}.svg`;
}

/** Named by the CAIP-2 id, whose colon is written as a hyphen: not every file system takes colons. */
export function networkIconUrl({ publicUrl }: Origin, chainId: string): string {
  return `${publicUrl}/icons/network/${chainId.replace(':', '-')}.svg`;
}

/** The copy of a merchant's logo; its name is the hash of its bytes. */
export function logoUrl({ publicUrl }: Origin, hash: string): string {
  return `${publicUrl}/logos/${hash}`;
}

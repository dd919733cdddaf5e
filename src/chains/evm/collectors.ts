/** A release of one of our contracts. Its address follows from its code, so it is the same on every EVM network. */
export interface ContractRelease {
  readonly address: string;
  /** Keccak-256 of the deployed code. */
  readonly codeHash: string;
  /** New payments are signed for this release from this time on, UTC. A future date leaves time to update every node. */
  readonly since: string;
  /** True if the contract of deposit addresses accepts authorizations of payers. */
  readonly takesAuthorizations?: true;
  /** True if the contract's events show a sealed subject of 32 bytes, and every committed term. */
  readonly isSealed?: true;
}

/**
 * All releases of the Collector, the oldest first. No release is ever removed: payments signed for an old release can be paid
 * until their deadline, and its events stay valid proofs. `docs/verify-receipt.mjs` has the same addresses.
 */
export const COLLECTORS: readonly ContractRelease[] = [
  {
    address: '0x005CE28BE7dC9eAea013Bbd2790c45FeaDF9290A',
    codeHash: '0x3442b20a013015a4089c1eadda68fce7f108780177975d734afc9f98e4898d09',
    since: '2026-11-15',
  },
  {
    address: '0xE7A3535e95f067C2cc1F030EE0CF94F67c65B826',
    codeHash: '0xeb13c55e43e8470696f5f87cf5500a16ab9fb778cc337af9d7d1e8b255519771',
    since: '2026-11-18',
    isSealed: true,
  },
];

/** All releases of the contract that sweeps deposit addresses, the oldest first. No release is ever removed. */
export const DEPOSIT_CONTRACTS: readonly ContractRelease[] = [
  {
    address: '0x45CF249FCdd8DDf78E1F65dcc6dEa6d6dB0F0ead',
    codeHash: '0xba1792c7e3bae9134542588926b077527ec118b3ebdf97833733ea36cf010dd2',
    since: '2026-11-16',
  },
  {
    address: '0xA76c90f3943b2d090d613343E15c952d53508506',
    codeHash: '0x15e01a260794702c451340d9e61026bff46bb934deac95f1c567482cb39aa57f',
    since: '2026-11-17',
    takesAuthorizations: true,
  },
  {
    address: '0xa7A95039B3cfa90f7aF034F09667F8b57081fa4E',
    codeHash: '0xc24b3638ed599f9bead9eb9e313187579d73673d2c04951c7d71e5ddfe1c25a1',
    since: '2026-11-18',
    takesAuthorizations: true,
    isSealed: true,
  },
];

export function isSealed(contract: string): boolean {
  return [...COLLECTORS, ...DEPOSIT_CONTRACTS].some((release) => release.address === contract && release.isSealed);
}

export function takesAuthorizations(contract: string): boolean {
  return DEPOSIT_CONTRACTS.some((release) => release.address === contract && release.takesAuthorizations);
}

/**
 * The release that new payments are made for: the newest deployed release whose `since` has passed. If no deployed release is in
 * force yet, the newest deployed release is used.
 */
export function releaseFor(nowMs: number, deployed: readonly ContractRelease[]): ContractRelease | undefined {
  return deployed.findLast(({ since }) => Date.parse(since) <= nowMs) ?? deployed.at(-1);
}

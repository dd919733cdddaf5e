/** The chain that the sandbox runs itself: CAIP-2. Its file in `networks/` has the tokens that `genesis.ts` deploys. */
export const SANDBOX_NETWORK = 'eip155:31337';

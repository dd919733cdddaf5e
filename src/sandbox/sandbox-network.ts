/** The CAIP-2 id of the chain that the sandbox runs itself. Its file in `networks/` has the tokens that `genesis.ts` deploys. */
export const SANDBOX_NETWORK = 'eip155:31337';

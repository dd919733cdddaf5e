/** The address of the token of `OWN_NETWORK`. */
export const OWN_TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3';

/** A sound file of an operator's own network with one token, line by line as people write it. */
export const OWN_NETWORK = `{
  "id": "eip155:777777",
  "name": "Own Chain",
  "mode": "test",
  "coin": { "symbol": "OWN", "name": "Own coin", "decimals": 18, "slip44": 60 },
  "blockTimeMs": 1000,
  "finality": { "depth": 2, "reason": "one process makes all blocks" },
  "tokens": [
    {
      "address": "${OWN_TOKEN}",
      "symbol": "USDO",
      "name": "Own dollar",
      "decimals": 6,
      "peg": "USD",
      "pay": "permit2"
    }
  ]
}
`;

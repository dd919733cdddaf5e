/** The sample deposit address of the API reference: USDC on Base. Its URI asks for 10 USDC, so the amount must be 10 USDC, too. */
export function sampleDeposit<Amount>(amount: Amount, arrived: Amount, expiresAt: number) {
  const address = '0x27b1fdb04752Bbc536007A920D24ACB045561c26';
  const token = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
  const uri = `ethereum:${token}@8453/transfer?address=${address}&uint256=10000000`;
  return {
    address: `eip155:8453:${address}`,
    plainAddress: address,
    amount,
    uri,
    expiresAt,
    confirmations: 10,
    arrived,
    confirmed: 0,
  };
}

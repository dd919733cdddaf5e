interface Story {
  readonly paymentId: string;
  readonly payer: string;
  readonly asset: string;
  readonly transaction: string;
}

/** The timeline of the story's payment, ten seconds before its end. */
export function sampleTimeline(story: Story) {
  return {
    paymentId: story.paymentId,
    status: 'processing',
    entries: [
      {
        at: '2026-02-18T09:30:00.000Z',
        what: 'payment.created',
        text: 'A payment was created. 10.00 USD, reference "ORDER-42", payable until 2026-02-18T09:35:00Z.',
      },
      {
        at: '2026-02-18T09:30:29.100Z',
        what: 'payment.processing',
        text: 'A payer has signed or sent the payment, and it is being carried out.',
      },
      {
        at: '2026-02-18T09:30:29.100Z',
        what: 'attempt.accepted',
        text: `The signature of eip155:8453:${story.payer} over 10.00 USDC on Base was accepted, valid until 2026-02-18T09:37:00Z.`,
        network: 'eip155:8453',
        asset: story.asset,
        amount: '10000000',
        account: `eip155:8453:${story.payer}`,
        deadline: '2026-02-18T09:37:00.000Z',
      },
      {
        at: '2026-02-18T09:30:29.420Z',
        what: 'transaction.broadcast',
        text: `Transaction ${story.transaction} was first broadcast to Base.`,
        network: 'eip155:8453',
        transaction: story.transaction,
      },
      {
        at: '2026-02-18T09:30:31.250Z',
        what: 'chain.paid',
        text: `Block 42318007 of Base shows the transfer, in transaction ${story.transaction}.`,
        network: 'eip155:8453',
        transaction: story.transaction,
        block: 42_318_007,
        blockHash: `0x${'5d'.repeat(32)}`,
      },
    ],
    omitted: 0,
    waiting: {
      reason: 'confirmations',
      text: 'The payment is in block 42318007. It waits for 4 more blocks on Base, about 8 s.',
      since: '2026-02-18T09:30:31.250Z',
    },
  };
}

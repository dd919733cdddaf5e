/** All texts of receipts. `{names}` are filled in. The other languages have the same keys. */
export const en = {
  title: 'Receipt',
  titleOf: 'Receipt from {merchant}',
  testPayment: 'Test payment. No real money was moved.',
  number: 'Receipt number',
  date: 'Date',
  items: 'Items',
  total: 'Total',
  payment: 'Payment',
  refunds: 'Refunds',
  afterRefunds: 'Paid after refunds',
  verify: 'Check this receipt',
  verifyText:
    'The signed receipt proves this payment by the blockchain itself. Anybody with Node.js can check it: read the script, then run it with the URL of an endpoint of {network} that you trust.',
  noProof: 'The signed receipt of this payment is not available at the moment.',
  online: 'This receipt online',
  signedReceipt: 'Signed receipt',
  script: 'Script',
  files: 'Files of this receipt',
  pdf: 'PDF, {size}',
  a4: 'A4',
  letter: 'Letter',
  roll: '80 mm roll',
  backToPayment: 'Page of the payment',
  pageNumber: 'Page {page} of {pages}',
  troubleTitle: 'The receipt is not available right now',
  troubleText: 'Try again in a moment.',
  busyTitle: 'Too many receipts were asked for',
  busyText: 'Wait some minutes, then try again.',
};

export type Strings = Readonly<Record<keyof typeof en, string>>;

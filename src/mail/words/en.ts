/** The texts of mails to people and payers, with `{names}` of values. The other languages have the same keys. */
export const en = {
  greeting: 'Hello {name},',
  invitationSubject: 'Your invitation to {site}',
  invitationText: 'you are invited to the dashboard of {site}. Sign in with this link, until {time}:',
  linkSubject: 'Your sign-in link for {site}',
  linkText: 'here is your link to sign in to the dashboard of {site}. It works until {time}:',
  linkOnce: 'The link works once. Do not forward it: anybody who opens it is signed in as you.',
  unexpected: 'If you did not expect this mail, you can ignore it.',
  receiptSubject: 'Your receipt from {merchant}',
  receiptText: 'You paid {amount} to {merchant}.',
  testPayment: 'This was a test payment. No real money was moved.',
  reference: 'Reference',
  date: 'Date',
  paidWith: 'Paid with',
  network: 'Network',
  account: 'From account',
  transaction: 'Transaction',
  items: 'Items',
  refunds: 'Refunds',
  lateMoney: 'More money has arrived',
  lateText:
    'It did not count for this payment. {merchant} was notified and can give it back: ask {merchant}, and name your account.',
  lateReturning: 'It did not count for this payment. Its return was requested.',
  lateReturned: 'It did not count for this payment, and was given back.',
  late: 'Came too late',
  overpaid: 'More than was asked for',
  underpaid: 'Less than was asked for',
  paid_twice: 'Paid a second time',
  wrong_token: 'Another token',
  wrong_network: 'Another network',
  pageLink: 'Your receipt as a page, to print or to save as PDF:',
  verify:
    'To check this receipt, look up the transaction in any block explorer of {network}. It moved {amount} from your account, and contains your signed order {commitment}.',
  receiptUnexpected:
    'Somebody entered this address on the page of the payment. If it was not you, you can ignore this mail.',
};

export type Words = { readonly [key in keyof typeof en]: string };

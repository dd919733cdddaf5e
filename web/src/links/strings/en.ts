/** All texts of the pages of payment links. `{names}` are filled in. The other languages have the same keys. */
export const en = {
  amountLabel: 'Amount in {currency}',
  bounds: 'From {minimum} to {maximum}',
  badAmount: 'Enter an amount from {minimum} to {maximum}, without separators of thousands: 1000 or 1.0, not 1.000.',
  continueTo: 'Continue to pay',
  note: 'Nothing is charged on this page. You see the amount again before you pay.',
  left: 'Left: {count}',
  soldOutTitle: 'Sold out',
  soldOutText: 'All pieces are paid, or are being paid right now. Try again in some minutes.',
  expiredTitle: 'This link has expired',
  inactiveTitle: 'This link takes no payments',
  closedText: 'Ask the shop for a new link.',
  merchantTitle: 'The shop takes no payments now',
  merchantText: 'Try again later, or ask the shop.',
  notFoundTitle: 'There is no such link',
  notFoundText: 'Check the address, or ask the shop for a new link.',
  busyTitle: 'Too many payments were begun here',
  busyText: 'Wait some minutes, then try again. Nothing is charged on this page.',
  unavailableTitle: 'The payment page is not available right now',
  unavailableText: 'Try again in a moment. Nothing is charged on this page.',
};

export type Strings = Readonly<Record<keyof typeof en, string>>;

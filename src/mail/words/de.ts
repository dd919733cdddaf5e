import type { Words } from './en.ts';

export const de: Words = {
  greeting: 'Guten Tag {name},',
  invitationSubject: 'Ihre Einladung zu {site}',
  invitationText: 'Sie sind zum Dashboard von {site} eingeladen. Melden Sie sich mit diesem Link an, bis {time}:',
  linkSubject: 'Ihr Anmeldelink für {site}',
  linkText: 'hier ist Ihr Link zur Anmeldung im Dashboard von {site}. Er gilt bis {time}:',
  linkOnce: 'Der Link gilt einmal. Leiten Sie ihn nicht weiter: Wer ihn öffnet, ist als Sie angemeldet.',
  unexpected: 'Wenn Sie diese E-Mail nicht erwartet haben, können Sie sie ignorieren.',
  receiptSubject: 'Ihre Quittung von {merchant}',
  receiptText: 'Sie haben {amount} an {merchant} bezahlt.',
  testPayment: 'Das war eine Testzahlung. Es wurde kein echtes Geld bewegt.',
  reference: 'Referenz',
  date: 'Datum',
  paidWith: 'Bezahlt mit',
  network: 'Netzwerk',
  account: 'Von Konto',
  transaction: 'Transaktion',
  items: 'Posten',
  refunds: 'Rückerstattungen',
  lateMoney: 'Es ist weiteres Geld angekommen',
  lateText:
    'Es zählte nicht für diese Zahlung. {merchant} weiß davon und kann es zurückgeben: Fragen Sie {merchant} und nennen Sie Ihr Konto.',
  lateReturning: 'Es zählte nicht für diese Zahlung. Seine Rückgabe ist beauftragt.',
  lateReturned: 'Es zählte nicht für diese Zahlung und wurde zurückgegeben.',
  late: 'Kam zu spät',
  overpaid: 'Mehr als verlangt',
  underpaid: 'Weniger als verlangt',
  paid_twice: 'Ein zweites Mal bezahlt',
  wrong_token: 'Ein anderer Token',
  wrong_network: 'Ein anderes Netzwerk',
  pageLink: 'Ihre Quittung als Seite, zum Drucken oder als PDF:',
  verify:
    'Um diese Quittung zu prüfen, suchen Sie die Transaktion in einem beliebigen Block-Explorer von {network}. Sie hat {amount} von Ihrem Konto bewegt und enthält Ihren signierten Auftrag {commitment}.',
  receiptUnexpected:
    'Jemand hat diese Adresse auf der Seite der Zahlung eingegeben. Wenn Sie das nicht waren, können Sie diese E-Mail ignorieren.',
};

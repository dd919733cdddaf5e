import type { Words } from './en.ts';

export const es: Words = {
  greeting: 'Hola, {name}:',
  invitationSubject: 'Su invitación a {site}',
  invitationText: 'Está invitado al panel de {site}. Inicie sesión con este enlace, hasta el {time}:',
  linkSubject: 'Su enlace de acceso a {site}',
  linkText: 'Este es su enlace para iniciar sesión en el panel de {site}. Es válido hasta el {time}:',
  linkOnce: 'El enlace funciona una sola vez. No lo reenvíe: quien lo abra inicia sesión como usted.',
  unexpected: 'Si no esperaba este correo, puede ignorarlo.',
  receiptSubject: 'Su recibo de {merchant}',
  receiptText: 'Ha pagado {amount} a {merchant}.',
  testPayment: 'Fue un pago de prueba. No se movió dinero real.',
  reference: 'Referencia',
  date: 'Fecha',
  paidWith: 'Pagado con',
  network: 'Red',
  account: 'Desde la cuenta',
  transaction: 'Transacción',
  items: 'Artículos',
  refunds: 'Reembolsos',
  pageLink: 'Su recibo como página, para imprimirlo o guardarlo en PDF:',
  verify:
    'Para comprobar este recibo, busque la transacción en cualquier explorador de bloques de {network}. Movió {amount} desde su cuenta y contiene su orden firmada {commitment}.',
  receiptUnexpected:
    'Alguien introdujo esta dirección en la página del pago. Si no fue usted, puede ignorar este correo.',
};

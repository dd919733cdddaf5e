import type { Strings } from './en.ts';

export const pt: Strings = {
  amountLabel: 'Valor em {currency}',
  bounds: 'De {minimum} a {maximum}',
  badAmount: 'Introduza um valor de {minimum} a {maximum}, sem separador de milhares: 1000 ou 1,0, não 1.000.',
  continueTo: 'Continuar para o pagamento',
  note: 'Nada é cobrado nesta página. Verá o valor outra vez antes de pagar.',
  left: 'Restam: {count}',
  soldOutTitle: 'Esgotado',
  soldOutText: 'Tudo está pago ou está a ser pago neste momento. Tente de novo dentro de alguns minutos.',
  expiredTitle: 'Este link expirou',
  inactiveTitle: 'Este link não aceita pagamentos',
  closedText: 'Peça um novo link à loja.',
  merchantTitle: 'A loja não aceita pagamentos neste momento',
  merchantText: 'Tente mais tarde ou pergunte à loja.',
  notFoundTitle: 'Este link não existe',
  notFoundText: 'Verifique o endereço ou peça um novo link à loja.',
  busyTitle: 'Foram iniciados demasiados pagamentos aqui',
  busyText: 'Espere alguns minutos e tente de novo. Nada é cobrado nesta página.',
  unavailableTitle: 'A página de pagamento não está disponível neste momento',
  unavailableText: 'Tente de novo dentro de instantes. Nada é cobrado nesta página.',
};

// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IPermit2, IWalletToken} from "./Tokens.sol";

/**
 * Takes signed payments from payers and, in the same transaction, pays them out: the net amount to the recipient, the
 * fees to the fee account. It has no owner, no setting and no balance of its own.
 *
 * Every payment has a commitment: the hash of the whole order for the money. It is the nonce that the payer signs, so a
 * signature is valid for exactly this order. Anyone may relay; nobody can redirect.
 */
contract Collector {
    /// One payment was made in full.
    event Collected(
        bytes32 indexed commitment,
        bytes16 paymentId,
        address payer,
        address token,
        uint256 amount,
        uint256 fee,
        address recipient
    );

    /// One item of a batch was not carried out, and its payer kept the money. The reason may be truncated.
    event Refused(bytes32 indexed commitment, bytes reason);

    error Reentered();
    error NotForYou();
    error MalformedItem();
    error NotAToken();
    error NotEnoughGas();
    error FeeNotPaid(bytes reason);

    // Reasons of refused items, in addition to those of tokens and Permit2.
    error OutOfGas();
    error FeeAboveAmount();
    error ShortArrival();
    error PayoutFailed(bytes reason);
    error WrongPayout();

    // Reasons of refused payments in native coin.
    error Late();
    error InexactValue();
    error AlreadyPaid();

    /// The payment method of a batch.
    enum Kind {
        Key,
        Wallet,
        Permit2
    }

    /// One item, unpacked. Its commitment is the hash of the first ten words.
    struct Order {
        uint256 chainId;
        address collector;
        address token;
        address feeAccount;
        bytes16 paymentId;
        address payer;
        uint256 amount;
        uint256 fee;
        address recipient;
        uint256 deadline;
        bytes32 commitment;
        Kind kind;
        // The Collector's token balance before the item: fees of earlier items, and unsolicited transfers.
        uint256 held;
    }

    IPermit2 private constant PERMIT2 = IPermit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);

    /// The selector and three words. The items follow.
    uint256 private constant ARGUMENT_BYTES = 100;

    /// Packed: payment id 16, payer 20, recipient 20, amount 16, fee 16, deadline 5, length of the signature 2 bytes.
    uint256 private constant HEAD_BYTES = 95;

    /// The words of an `Order`, and the words that its commitment covers.
    uint256 private constant ORDER_BYTES = 416;
    uint256 private constant COMMITTED_BYTES = 320;

    // Selectors of `balanceOf(address)`, `transfer(address,uint256)`, and of EIP-3009's `receiveWithAuthorization` in the
    // form that takes v, r and s. Assembly can only read constants that are plain numbers.
    uint256 private constant BALANCE_OF = 0x70a08231;
    uint256 private constant TRANSFER = 0xa9059cbb;
    uint256 private constant RECEIVE_WITH_AUTHORIZATION = 0xef55bec6;

    /// The most bytes kept of a reason. A token may return megabytes.
    uint256 private constant MAX_REASON_BYTES = 256;

    /// The gas of the batch between its gas check and the first instruction of an item, with a margin.
    uint256 private constant CALL_GAS = 3_000;

    /// Completed payments in native coin. For payments in tokens, the token or Permit2 stores the used nonces.
    mapping(bytes32 commitment => bool) public isPaid;

    uint256 private transient entered;

    /// Tokens, wallets and recipients are untrusted: none of them may reenter during a payment.
    modifier once() {
        require(entered == 0, Reentered());
        entered = 1;
        _;
        entered = 0;
    }

    /// Carries out a batch of payments that payers signed with their keys, for a token with EIP-3009.
    function collectByKey(address token, address feeAccount, uint256 itemGas) external returns (bytes memory) {
        return _collect(Kind.Key, token, feeAccount, itemGas);
    }

    /// The same with signatures of any length, for tokens whose EIP-3009 supports wallet contracts (ERC-1271) too.
    function collectByWallet(address token, address feeAccount, uint256 itemGas) external returns (bytes memory) {
        return _collect(Kind.Wallet, token, feeAccount, itemGas);
    }

    /// The same through Permit2's SignatureTransfer, for any token with an allowance of the payers for Permit2.
    function collectByPermit2(address token, address feeAccount, uint256 itemGas) external returns (bytes memory) {
        return _collect(Kind.Permit2, token, feeAccount, itemGas);
    }

    /**
     * Carries out the packed items that follow the arguments, one by one, all in one token and with one fee account. A
     * failed item is undone alone. Each may use `itemGas`; the batch reverts as a whole before it starts an item with
     * less gas.
     *
     * @return refusals for each item that failed: its index in 2 bytes, the length of the reason in 2, the reason.
     */
    function _collect(Kind kind, address token, address feeAccount, uint256 itemGas)
        private
        once
        returns (bytes memory refusals)
    {
        bytes calldata items = msg.data[ARGUMENT_BYTES:];
        // Unsolicited tokens of this contract are never moved: every check below starts from this balance.
        uint256 stray = _balance(token);
        uint256 held = stray;
        // A call never gets more than 63/64 of the remaining gas.
        uint256 neededGas = itemGas + itemGas / 63 + CALL_GAS;
        uint256 index = 0;
        refusals = new bytes(0);
        for (uint256 offset = 0; offset < items.length; ++index) {
            (Order memory order, uint256 size) = _unpack(kind, token, feeAccount, held, items, offset);
            offset += size;
            require(offset <= items.length, MalformedItem());
            uint256 gasBefore = gasleft();
            require(gasBefore > neededGas, NotEnoughGas());
            if (_attempt(order, size - HEAD_BYTES, itemGas)) {
                held += order.fee;
            } else {
                // Each nested call keeps 1/64 back: out of gas three calls deep means that 15/16 or more is spent.
                bool isSpent = gasBefore - gasleft() > itemGas - itemGas / 16;
                _refuse(refusals, index, order.commitment, isSpent);
            }
        }
        if (held > stray) {
            if (!_transfer(token, feeAccount, held - stray)) revert FeeNotPaid(_returned());
            require(_balance(token) == stray, WrongPayout());
        }
    }

    /**
     * One item: pull the amount, check that all of it arrived, pay the recipient, check that exactly the fee is left.
     * The Collector calls this on itself, so that the EVM undoes a failed item.
     */
    function carryOut(Order calldata order, bytes calldata signature) external {
        require(msg.sender == address(this), NotForYou());
        (address token, uint256 amount, uint256 fee, uint256 held) = (order.token, order.amount, order.fee, order.held);
        require(fee <= amount, FeeAboveAmount());

        _pull(order, signature);
        require(_balance(token) == held + amount, ShortArrival());

        if (!_transfer(token, order.recipient, amount - fee)) revert PayoutFailed(_returned());
        require(_balance(token) == held + fee, WrongPayout());

        _tell(order);
    }

    /**
     * A payment in native coin, made by the payer with a transaction of their own. Its token is the zero address. Each
     * can be made once, before its deadline, with exactly its amount.
     */
    function pay(
        address feeAccount,
        bytes16 paymentId,
        uint256 amount,
        uint256 fee,
        address recipient,
        uint256 deadline
    ) external payable once {
        require(block.timestamp <= deadline, Late());
        require(msg.value == amount, InexactValue());
        require(fee <= amount, FeeAboveAmount());
        bytes32 commitment = keccak256(
            abi.encode(
                block.chainid,
                address(this),
                address(0),
                feeAccount,
                paymentId,
                msg.sender,
                amount,
                fee,
                recipient,
                deadline
            )
        );
        require(!isPaid[commitment], AlreadyPaid());
        isPaid[commitment] = true;

        _send(recipient, amount - fee);
        if (fee > 0) _send(feeAccount, fee);
        emit Collected(commitment, paymentId, msg.sender, address(0), amount, fee, recipient);
    }

    /// Takes the signed amount from the payer. The nonce is the commitment: it can be used once.
    function _pull(Order calldata order, bytes calldata signature) private {
        if (order.kind == Kind.Key) {
            require(signature.length == 64, MalformedItem());
            _pullByKey(order, signature);
        } else if (order.kind == Kind.Wallet) {
            IWalletToken(order.token).receiveWithAuthorization(
                order.payer, address(this), order.amount, 0, order.deadline, order.commitment, signature
            );
        } else {
            PERMIT2.permitTransferFrom(
                IPermit2.PermitTransferFrom({
                    permitted: IPermit2.TokenPermissions({token: order.token, amount: order.amount}),
                    nonce: uint256(order.commitment),
                    deadline: order.deadline
                }),
                IPermit2.SignatureTransferDetails({to: address(this), requestedAmount: order.amount}),
                order.payer,
                signature
            );
        }
    }

    /// `receiveWithAuthorization(payer, this, amount, 0, deadline, commitment, v, r, s)`: the most frequent case.
    function _pullByKey(Order calldata order, bytes calldata signature) private {
        assembly ("memory-safe") {
            // EIP-2098: the highest bit of the second word selects one of two possible keys.
            let vs := calldataload(add(signature.offset, 0x20))
            let input := mload(0x40)
            mstore(input, shl(224, RECEIVE_WITH_AUTHORIZATION))
            mstore(add(input, 0x04), calldataload(add(order, 0xa0)))
            mstore(add(input, 0x24), address())
            mstore(add(input, 0x44), calldataload(add(order, 0xc0)))
            mstore(add(input, 0x64), 0)
            calldatacopy(add(input, 0x84), add(order, 0x120), 0x40)
            mstore(add(input, 0xc4), add(27, shr(255, vs)))
            mstore(add(input, 0xe4), calldataload(signature.offset))
            mstore(add(input, 0x104), shr(1, shl(1, vs)))
            if iszero(call(gas(), calldataload(add(order, 0x40)), 0, input, 0x124, 0, 0)) {
                returndatacopy(input, 0, returndatasize())
                revert(input, returndatasize())
            }
        }
    }

    /// The Collector's balance of the token.
    function _balance(address token) private view returns (uint256 units) {
        bool isAnswered;
        assembly ("memory-safe") {
            mstore(0x00, shl(224, BALANCE_OF))
            mstore(0x04, address())
            isAnswered := staticcall(gas(), token, 0x00, 0x24, 0x00, 0x20)
            isAnswered := and(isAnswered, gt(returndatasize(), 0x1f))
            units := mload(0x00)
        }
        require(isAnswered, NotAToken());
    }

    /// A token refuses by a revert or by false; some succeed without return data. `_returned` has the return data.
    function _transfer(address token, address to, uint256 value) private returns (bool isDone) {
        assembly ("memory-safe") {
            let input := mload(0x40)
            mstore(input, shl(224, TRANSFER))
            mstore(add(input, 0x04), to)
            mstore(add(input, 0x24), value)
            mstore(0x00, 0)
            isDone := call(gas(), token, 0, input, 0x44, 0x00, 0x20)
            isDone := and(isDone, or(iszero(returndatasize()), eq(mload(0x00), 1)))
        }
    }

    /// Emits `Collected`, with the words of the order.
    function _tell(Order calldata order) private {
        bytes32 topic = Collected.selector;
        assembly ("memory-safe") {
            let data := mload(0x40)
            calldatacopy(data, add(order, 0x80), 0x40) // paymentId, payer
            calldatacopy(add(data, 0x40), add(order, 0x40), 0x20) // token
            calldatacopy(add(data, 0x60), add(order, 0xc0), 0x60) // amount, fee, recipient
            log2(data, 0xc0, topic, calldataload(add(order, 0x140)))
        }
    }

    function _send(address to, uint256 value) private {
        bool isSent;
        // Solidity would copy the receiver's return data into memory, at the payer's cost.
        assembly ("memory-safe") {
            isSent := call(gas(), to, value, 0, 0, 0, 0)
        }
        require(isSent, PayoutFailed(""));
    }

    /**
     * Reads the packed item at `offset`. In memory the order lies between the selector of `carryOut` and the signature.
     * The three together are the calldata that `_attempt` sends.
     */
    function _unpack(Kind kind, address token, address feeAccount, uint256 held, bytes calldata items, uint256 offset)
        private
        view
        returns (Order memory order, uint256 size)
    {
        uint256 selector = uint32(this.carryOut.selector);
        assembly ("memory-safe") {
            let packed := add(items.offset, offset)
            let signatureBytes := shr(240, calldataload(add(packed, 93)))
            size := add(HEAD_BYTES, signatureBytes)

            order := add(mload(0x40), 0x20)
            mstore(0x40, add(order, add(ORDER_BYTES, add(0x40, signatureBytes))))
            mstore(sub(order, 0x20), selector)
            mstore(order, chainid())
            mstore(add(order, 0x20), address())
            mstore(add(order, 0x40), token)
            mstore(add(order, 0x60), feeAccount)
            mstore(add(order, 0x80), shl(128, shr(128, calldataload(packed))))
            mstore(add(order, 0xa0), shr(96, calldataload(add(packed, 16))))
            mstore(add(order, 0xc0), shr(128, calldataload(add(packed, 56))))
            mstore(add(order, 0xe0), shr(128, calldataload(add(packed, 72))))
            mstore(add(order, 0x100), shr(96, calldataload(add(packed, 36))))
            mstore(add(order, 0x120), shr(216, calldataload(add(packed, 88))))
            mstore(add(order, 0x140), keccak256(order, COMMITTED_BYTES))
            mstore(add(order, 0x160), kind)
            mstore(add(order, 0x180), held)
            // The signature is the second argument: offset, length, bytes.
            mstore(add(order, 0x1a0), add(ORDER_BYTES, 0x20))
            mstore(add(order, 0x1c0), signatureBytes)
            calldatacopy(add(order, 0x1e0), add(packed, HEAD_BYTES), signatureBytes)
        }
    }

    /// Carries out one order. A failure undoes it.
    function _attempt(Order memory order, uint256 signatureBytes, uint256 itemGas) private returns (bool isCollected) {
        assembly ("memory-safe") {
            isCollected := call(itemGas, address(), 0, sub(order, 4), add(0x1e4, signatureBytes), 0, 0)
            // The next order may overwrite this one in memory: the caller reads its values at once.
            mstore(0x40, sub(order, 0x20))
        }
    }

    /// Reports the reason of the last failed call, in an event and in the return data of the batch.
    function _refuse(bytes memory refusals, uint256 index, bytes32 commitment, bool isSpent) private {
        // A nested call that runs out of gas gives no reason, and the reason of its caller is misleading.
        bytes memory reason = isSpent ? abi.encodeWithSelector(OutOfGas.selector) : _returned();
        emit Refused(commitment, reason);
        // Only this reason is in memory behind the refusals. It is moved up to them, behind its index and length.
        assembly ("memory-safe") {
            let length := mload(reason)
            let end := add(add(refusals, 0x20), mload(refusals))
            mstore(end, shl(224, or(shl(16, index), length)))
            mcopy(add(end, 4), add(reason, 0x20), length)
            mstore(refusals, add(mload(refusals), add(4, length)))
            mstore(0x40, and(add(add(end, length), 0x23), not(0x1f)))
        }
    }

    /// The beginning of the last call's return data.
    function _returned() private pure returns (bytes memory data) {
        assembly ("memory-safe") {
            let length := returndatasize()
            if gt(length, MAX_REASON_BYTES) { length := MAX_REASON_BYTES }
            data := mload(0x40)
            mstore(data, length)
            returndatacopy(add(data, 0x20), 0, length)
            mstore(0x40, add(data, and(add(length, 0x3f), not(0x1f))))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/**
 * A wallet contract for attacks on the relayer: it says yes to its owner's signatures (ERC-1271) while it believes that it
 * is only simulated, and plays its trick otherwise. It also serves as the code of a key account (EIP-7702), whose storage
 * it uses and whose own key it accepts.
 */
contract HostileWallet {
    enum Trick {
        None,
        BurnsGas,
        AnswersNo,
        RevertsWithKilobytes,
        AnswersKilobytes
    }

    /// How the wallet tells a simulation from a transaction.
    enum Tell {
        // A call without a fee is a simulation.
        GasPrice,
        // A call from nobody is a simulation.
        Origin,
        // A simulation runs on the newest block, for which the owner has left a note.
        Block,
        // It does not care.
        Nothing
    }

    address private immutable owner;
    Trick private trick;
    Tell private tell;
    uint256 private notedBlock;

    constructor(address owner_) {
        owner = owner_;
    }

    function play(Trick trick_, Tell tell_) external {
        trick = trick_;
        tell = tell_;
        notedBlock = block.number;
    }

    /// Leaves the note that a simulation on this block will find.
    function note() external {
        notedBlock = block.number;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (!_isSimulated()) _play();
        address signer = ECDSA.recoverCalldata(hash, signature);
        return signer == owner || signer == address(this) ? this.isValidSignature.selector : bytes4(0);
    }

    function _isSimulated() private view returns (bool) {
        if (tell == Tell.GasPrice) return tx.gasprice == 0;
        if (tell == Tell.Origin) return tx.origin == address(0);
        return tell == Tell.Block && block.number == notedBlock;
    }

    function _play() private view {
        if (trick == Trick.BurnsGas) while (true) {}
        if (trick == Trick.AnswersNo) revert("HostileWallet: no");
        if (trick == Trick.RevertsWithKilobytes) {
            assembly {
                revert(0, 0x10000)
            }
        }
        if (trick == Trick.AnswersKilobytes) {
            assembly {
                return(0, 0x10000)
            }
        }
    }
}

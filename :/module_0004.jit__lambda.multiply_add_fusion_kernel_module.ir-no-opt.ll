; ModuleID = '__compute_module_multiply_add_fusion_kernel_module'
source_filename = "__compute_module_multiply_add_fusion_kernel_module"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%XLA_CPU_KernelCallFrame = type { ptr, ptr, i64, ptr }
%XLA_CPU_KernelArg = type { ptr, i64 }
%kernel_dim3 = type { i64, i64, i64 }

declare float @xla.log1p.f32(float)

; Function Attrs: uwtable
define ptr @multiply_add_fusion(ptr %0) #0 {
  %2 = getelementptr inbounds %XLA_CPU_KernelCallFrame, ptr %0, i32 0, i32 3
  %3 = load ptr, ptr %2, align 8, !invariant.load !3
  %4 = getelementptr inbounds %XLA_CPU_KernelArg, ptr %3, i32 0, i32 0
  %5 = load ptr, ptr %4, align 8, !invariant.load !3, !dereferenceable !4
  %6 = getelementptr inbounds %XLA_CPU_KernelArg, ptr %3, i32 1, i32 0
  %7 = load ptr, ptr %6, align 8, !invariant.load !3, !dereferenceable !4
  %8 = getelementptr inbounds %XLA_CPU_KernelArg, ptr %3, i32 2, i32 0
  %9 = load ptr, ptr %8, align 8, !invariant.load !3, !dereferenceable !4
  %10 = getelementptr inbounds %XLA_CPU_KernelArg, ptr %3, i32 3, i32 0
  %11 = load ptr, ptr %10, align 8, !invariant.load !3, !dereferenceable !4
  %12 = getelementptr inbounds %XLA_CPU_KernelCallFrame, ptr %0, i32 0, i32 1
  %13 = load ptr, ptr %12, align 8
  %14 = getelementptr inbounds %kernel_dim3, ptr %13, i32 0, i32 0
  %15 = load i64, ptr %14, align 4, !invariant.load !3
  %16 = getelementptr inbounds %kernel_dim3, ptr %13, i32 0, i32 1
  %17 = load i64, ptr %16, align 4, !invariant.load !3
  %18 = getelementptr inbounds %kernel_dim3, ptr %13, i32 0, i32 2
  %19 = load i64, ptr %18, align 4, !invariant.load !3
  call void @multiply_add_fusion_wrapped(ptr %5, ptr %7, ptr %9, ptr %11, i64 %15, i64 %17, i64 %19)
  ret ptr null
}

; Function Attrs: alwaysinline
define internal void @multiply_add_fusion_wrapped(ptr noalias align 64 dereferenceable(256) %0, ptr noalias align 64 dereferenceable(256) %1, ptr noalias align 64 dereferenceable(256) %2, ptr noalias align 64 dereferenceable(256) %3, i64 %4, i64 %5, i64 %6) #1 {
  br label %8

8:                                                ; preds = %75, %7
  %9 = phi i64 [ %76, %75 ], [ 0, %7 ]
  %10 = icmp slt i64 %9, 8
  br i1 %10, label %11, label %77

11:                                               ; preds = %8
  %12 = mul nsw i64 %9, 8
  br label %13

13:                                               ; preds = %16, %11
  %14 = phi i64 [ %74, %16 ], [ 0, %11 ]
  %15 = icmp slt i64 %14, 8
  br i1 %15, label %16, label %75

16:                                               ; preds = %13
  %17 = add nsw i64 %12, %14
  %18 = getelementptr inbounds [64 x i32], ptr %1, i32 0, i64 %17
  %19 = load i32, ptr %18, align 4, !invariant.load !3
  %20 = getelementptr inbounds [64 x i32], ptr %2, i32 0, i64 %17
  %21 = load i32, ptr %20, align 4, !invariant.load !3
  %22 = xor i32 %19, %21
  %23 = lshr i32 %22, 9
  %24 = or i32 %23, 1065353216
  %25 = bitcast i32 %24 to float
  %26 = fadd float %25, -1.000000e+00
  %27 = fmul float %26, 2.000000e+00
  %28 = fadd float %27, f0xBF7FFFFF
  %29 = call float @llvm.maximum.f32(float %28, float f0xBF7FFFFF)
  %30 = fneg float %29
  %31 = fmul float %29, %30
  %32 = call float @xla.log1p.f32(float %31)
  %33 = fneg float %32
  %34 = fcmp olt float %33, 5.000000e+00
  %35 = select i1 %34, float f0x32F16588, float f0xB951F09B
  %36 = select i1 %34, float f0x34B84B36, float f0x38D3B56B
  %37 = call float @llvm.sqrt.f32(float %33)
  %38 = fadd float %33, -2.500000e+00
  %39 = fadd float %37, -3.000000e+00
  %40 = select i1 %34, float %38, float %39
  %41 = fmul float %35, %40
  %42 = fadd float %36, %41
  %43 = select i1 %34, float f0xB66C7357, float f0x3AB0DC72
  %44 = fmul float %42, %40
  %45 = fadd float %43, %44
  %46 = select i1 %34, float f0xB6935AC1, float f0xBB70BDE7
  %47 = fmul float %45, %40
  %48 = fadd float %46, %47
  %49 = select i1 %34, float f0x396532DB, float f0x3BBC127B
  %50 = fmul float %48, %40
  %51 = fadd float %49, %50
  %52 = select i1 %34, float f0xBAA45408, float f0xBBF9C5D7
  %53 = fmul float %51, %40
  %54 = fadd float %52, %53
  %55 = select i1 %34, float f0xBB88E4EF, float f0x3C1AA57E
  %56 = fmul float %54, %40
  %57 = fadd float %55, %56
  %58 = select i1 %34, float f0x3E7C8F63, float f0x3F8036DB
  %59 = fmul float %57, %40
  %60 = fadd float %58, %59
  %61 = select i1 %34, float f0x3FC02E2F, float f0x40354F7E
  %62 = fmul float %60, %40
  %63 = call float @llvm.fabs.f32(float %29)
  %64 = fadd float %61, %62
  %65 = fcmp oeq float %63, 1.000000e+00
  %66 = fmul float %29, +inf
  %67 = fmul float %64, %29
  %68 = select i1 %65, float %66, float %67
  %69 = getelementptr inbounds [64 x float], ptr %0, i32 0, i64 %17
  %70 = load float, ptr %69, align 4, !invariant.load !3
  %71 = fmul float %68, f0x3FB504F3
  %72 = fadd float %70, %71
  %73 = getelementptr inbounds [64 x float], ptr %3, i32 0, i64 %17
  store float %72, ptr %73, align 4
  %74 = add i64 %14, 1
  br label %13

75:                                               ; preds = %13
  %76 = add i64 %9, 1
  br label %8, !llvm.loop !5

77:                                               ; preds = %8
  ret void
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.maximum.f32(float, float) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.sqrt.f32(float) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fabs.f32(float) #2

attributes #0 = { uwtable "frame-pointer"="all" "prefer-vector-width"="256" }
attributes #1 = { alwaysinline }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!llvm.module.flags = !{!0, !1}
!xla_cpu_memory_region_name = !{!2}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 1, !"xla_dylib_index", i64 3}
!2 = !{!"xla_cpu_emitter__loop_fusion_kernel_emitter__hlo_opcode__fusion"}
!3 = !{}
!4 = !{i64 256}
!5 = distinct !{!5, !6}
!6 = !{!"llvm.loop.unroll.disable"}
